//! Study files with a word on each choice, one per task.
//!
//! Parts that tasks share are written once. Every file must pass `mohs check` as it is.

use mohs_data::{Stimulus, Task};
use mohs_serve::hosted::address_name;

/// Trials of a participant of the speed–accuracy paper: 50 for practice, then 210 per beep.
const PRACTICE_TRIALS: usize = 50;
const TRIALS_PER_BLOCK: usize = 210;
const N_BEEPS: usize = 5;
/// Timed trials after which the gate looks.
const GATE_TRIALS: usize = 40;

/// Letters of an id, at most.
const LONGEST_ID: usize = 60;

/// Returns the study file of a task.
pub(super) fn study(task: Task, name: &str, stimuli: &[Stimulus]) -> String {
    let title = match task {
        Task::Flash => "A viewing-time study: pictures are flashed, people name them.",
        Task::Beep => "A speed-accuracy study: people name pictures at a beep.",
        Task::Pairs => "A study of paired judgements: which of two pictures is harder?",
        Task::Masks => "A study of outlines: people draw where objects are.",
        Task::Rate => "A study without time pressure: people name pictures.",
    };
    let design = match task {
        Task::Flash => FLASH.to_owned(),
        Task::Beep => beep(stimuli.len()),
        Task::Pairs => pairs(stimuli),
        Task::Masks => String::new(),
        Task::Rate => RATE.to_owned(),
    };
    let exclusions = match task {
        Task::Flash => FLASH_EXCLUSIONS,
        Task::Beep | Task::Rate => EXCLUSIONS,
        Task::Pairs | Task::Masks => "",
    };
    let score = if task == Task::Flash { FLASH_SCORE } else { SCORE };
    let head = format!(
        "# {title}
# Every choice that changes a result stands here. All keys: docs/formats/study.md.
version = 1
name = {name}
# What addresses and the database call the study. Leave it once there are data; the name is free.
id = \"{id}\"
task = \"{task}\"
stimuli = \"stimuli.csv\"
",
        name = quoted(if name.is_empty() { "study" } else { name }),
        id = id(name),
        task = task.as_str(),
    );
    let labels = if task == Task::Pairs { String::new() } else { labels(stimuli) };
    let (prepare, screen) = (prepare(task), screen(task));
    let parts = [&design, &prepare, &screen, PAGE, exclusions, score];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{head}{labels}\n{}", parts.join("\n"))
}

/// Returns an id that follows from a name and is as short as one must be.
fn id(name: &str) -> String {
    let mut id = address_name(name);
    id.truncate(LONGEST_ID);
    id.trim_end_matches('-').into()
}

fn labels(stimuli: &[Stimulus]) -> String {
    let mut labels: Vec<&str> = stimuli.iter().map(|stimulus| stimulus.label.as_str()).collect();
    labels.sort_unstable();
    labels.dedup();
    let quoted: Vec<String> = labels.iter().map(|label| quoted(label)).collect();
    format!(
        "# What participants choose from; the guess rate is one over their number.
labels = [{}]
",
        quoted.join(", ")
    )
}

const FLASH: &str = "[flash]
# Exposures that 60 Hz screens can show: 1, 3, 6, 9, 15 and 600 frames.
exposures_ms = [17, 50, 100, 150, 250, 10000]
# `balanced`: all pairs of stimulus and exposure fill up evenly. `adaptive`: the exposure that tells
# most about a stimulus, until its band is known.
design = \"balanced\"
# People who see each stimulus at each exposure: 7 x 6 exposures = 42 trials per stimulus.
participants_per_cell = 7
trials_per_participant = 50
fixation_ms = 500
mask_ms = 500
# Empty screen between an answer and the next cross. It also keeps flashes apart.
gap_ms = 500
";

fn beep(n_stimuli: usize) -> String {
    // Nobody sees a picture twice, so small sets have short blocks.
    let practice = PRACTICE_TRIALS.min(n_stimuli / 10);
    let per_block = TRIALS_PER_BLOCK.min((n_stimuli - practice) / N_BEEPS).max(1);
    // Both looks, before and after a warning, come within the trials that there are.
    let gate = GATE_TRIALS.min((per_block * N_BEEPS / 2).max(1));
    format!(
        "[beep]
# When the beep sounds after the picture appeared; one block of trials each.
beeps_ms = [500, 900, 1100, 1300, 1500]
# `ascending`, `descending`, or `alternate`: half of the participants each.
order = \"alternate\"
# Untimed trials first. The paper has 50, and 210 in a block.
practice_trials = {practice}
trials_per_block = {per_block}
# Participants who should finish.
participants = 20
# Answers this near to the beep are in time, and none is taken later than the window after it.
tolerance_ms = 100
window_ms = 200
# `sound`, `visual` (a ring that closes), or `choice` of the participant.
cue = \"choice\"
# After so many timed trials: how many answers were in time? Below the share, people are told and
# practise again (`warn`), and leave with their code if that does not help (`stop`).
gate_trials = {gate}
gate_share = 0.5
gate = \"warn\"
"
    )
}

fn pairs(stimuli: &[Stimulus]) -> String {
    let has_levels = stimuli.iter().all(|s| s.attribute.is_some() && s.level.is_some());
    let within = if has_levels { "attribute" } else { "label" };
    format!(
        "[pairs]
# Which pictures meet: those with the same `label`; the same label and `attribute`, of different
# levels; or `all`.
within = \"{within}\"
# Pairs each picture takes part in, at least.
pairs_per_stimulus = 6
# Pairs that join each group to others, so that all are on one scale.
links_per_group = 3
# Participants who judge each pair.
judgements_per_pair = 3
trials_per_participant = 60
# Whether \"about the same\" is an answer.
ties = false
# Whether the next pair is the one that tells most, instead of the least judged.
adaptive = false
"
    )
}

const RATE: &str = "[rate]
# Participants who name each stimulus.
participants_per_stimulus = 5
trials_per_participant = 50
";

fn prepare(task: Task) -> String {
    let masks = match task {
        Task::Flash => {
            "# Masks after pictures: `paper` (noise added to the phase), `published-code` (the phase of
# noise) or `none`. docs/methods/phase-masks.md shows them.
masks = \"paper\"
"
        }
        _ => "",
    };
    format!(
        "[prepare]
# What is shown of a picture: the square around its `box`, black where the picture ends (pictures
# without a box are taken whole); the `whole` picture; or the square in its `centre`.
crop = \"box\"
# Side of what is shown, in pixels.
side_px = 224
{masks}# Where the random numbers of masks and noise come from.
seed = 1
# Conditions: each stimulus is shown in every one to some participants. Kinds are colour, gray,
# contrast (kept, 0 to 1), noise (standard deviation, 0 to 1) and blur (standard deviation in
# pixels). Without conditions pictures are shown as they are.
# [[prepare.condition]]
# name = \"noise 0.16\"
# kind = \"noise\"
# amount = 0.16
"
    )
}

fn screen(task: Task) -> String {
    let exposure = match task {
        Task::Flash => {
            "# How far an exposure may be off on a participant's screen; others are not shown there.
tolerance = 0.1
# Browsers that show exposures up to 100 ms; others get longer ones only.
short_exposures_in = [\"chromium\"]
"
        }
        _ => "",
    };
    let (calibrate, fullscreen) = match task {
        Task::Flash | Task::Beep => (true, true),
        Task::Pairs | Task::Masks | Task::Rate => (false, false),
    };
    format!(
        "[screen]
# Whether participants measure their screen (a bank card) and distance (the blind spot).
calibrate = {calibrate}
# Size of a stimulus in degrees of visual angle, where measured, and in pixels, where not.
size_deg = 8
size_px = 400
fullscreen = {fullscreen}
{exposure}"
    )
}

const PAGE: &str = "[page]
# Who asks, and how to reach them: participants read it before they agree.
contact = \"\"
# What participants get, in words.
pay = \"\"
# Language of the page's own texts: `en` or `de`.
language = \"en\"
min_age = 18
trials_between_breaks = 25
# Your own texts, as files beside this one; paragraphs are parted by empty lines.
# consent = \"consent.txt\"
# debrief = \"debrief.txt\"
# Where people go who did everything; {code} becomes their completion code. Everybody has a code of
# their own, unless the recruiter has one for the study.
# completion_url = \"https://recruiter.example/complete?cc={code}\"
# completion_code = \"C1234\"
";

const FLASH_EXCLUSIONS: &str = "[exclusions]
# Participants below this accuracy at the longest exposure are set aside, and counted.
min_accuracy_at_longest = 0.6
# Trials answered sooner than anybody can see, in milliseconds after onset.
min_rt_ms = 150
# Only the first time a participant sees a stimulus counts.
repeated_stimuli = true
# Trials that the screen did not show as planned.
timing = [\"long\", \"short\", \"dropped\", \"unknown\"]
";

const FLASH_SCORE: &str = "[score]
# Recognised means: at least this share of answers is right.
criterion = 0.5
# `stays`: recognised there and at every longer exposure. `first`: recognised there.
rule = \"stays\"
confidence = 0.95
n_resamples = 1000

[simulate]
# Share of stimuli whose band should come out right.
goal = 0.7
drop_out = 0.05
seconds_per_trial = 6
pay_per_hour = 12
recruiter_fee = 0.33
";

const EXCLUSIONS: &str = "[exclusions]
# Trials answered sooner than anybody can see, in milliseconds after onset.
min_rt_ms = 150
# Only the first time a participant sees a stimulus counts.
repeated_stimuli = true
# Trials that were begun and not finished: nobody knows what was seen.
timing = [\"unknown\"]
";

const SCORE: &str = "[score]
confidence = 0.95
n_resamples = 1000
";

/// Writes a text as a TOML string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

//! Settings of attacks: what they are called, what they may be, and the presets.
//!
//! `paper` is what the study of difficulty and attacks used as far as its table tells: torchattacks
//! 3.2.6 as its own examples call it, with only ε varied. `torchattacks-3.5.1` is that version's
//! defaults. Whatever a preset says can be set apart.

use std::fmt;
use std::str::FromStr;

use mohs_data::{Norm, nearest};

use super::{ATTACKS, Attack};

/// Where the settings of attacks come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preset {
    /// torchattacks 3.2.6 as its examples call it.
    #[default]
    Paper,
    /// torchattacks 3.5.1 as it is.
    Torchattacks351,
}

/// How many steps an attack takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steps {
    /// This many.
    Fixed(usize),
    /// As many as the basic iterative method derives from ε: the whole part of the smaller of
    /// 255 ε + 4 and 1.25 · 255 ε.
    ByEpsilon,
}

impl Steps {
    /// The number of steps for an ε.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "ε is in [0, 1]")]
    pub fn at(self, epsilon: f64) -> usize {
        match self {
            Steps::Fixed(n) => n,
            Steps::ByEpsilon => (epsilon * 255.0 + 4.0).min(1.25 * epsilon * 255.0) as usize,
        }
    }
}

/// What is climbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossName {
    /// The cross entropy.
    CrossEntropy,
    /// The margin between the label and the best other class.
    Margin,
    /// The difference of logits ratio.
    LogitsRatio,
}

/// How slopes are smoothed over neighbouring pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelName {
    /// A bell.
    Gaussian,
    /// A tent.
    Linear,
    /// A box.
    Uniform,
}

/// Settings of an attack; each attack looks at those that count for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// How far a step goes.
    pub alpha: f64,
    /// How many steps.
    pub steps: Steps,
    /// Whether to start at a random place within ε.
    pub random_start: bool,
    /// How much of the last direction is kept.
    pub decay: f64,
    /// How many slopes are put together at each step, for models that answer at random.
    pub eot: usize,
    /// What is climbed.
    pub loss: LossName,
    /// The smallest share of its side that a picture is shrunk to.
    pub resize_rate: f64,
    /// How often a shrunk picture is shown instead of the picture.
    pub diversity: f64,
    /// How slopes are smoothed.
    pub kernel: KernelName,
    /// Width of the smoothing in pixels.
    pub kernel_size: usize,
    /// How many standard deviations half the width is.
    pub kernel_sds: f64,
    /// How often the model may be asked.
    pub n_queries: usize,
    /// The share of pixels that the first squares cover.
    pub p_init: f64,
    /// The share of steps that must go up for the step length to stay.
    pub rho: f64,
    /// What logits are scaled to.
    pub scale: f64,
    /// The spread of the noise on shares.
    pub sd: f64,
    /// How fast the size of the change adapts.
    pub gamma: f64,
    /// The first size of the change.
    pub first_epsilon: f64,
    /// How many times the attack is tried from another start.
    pub restarts: usize,
}

/// A setting that is not understood.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SettingError {
    /// No such attack.
    #[error("there is no attack `{found}`{}", suggestion(*nearest))]
    UnknownAttack {
        /// What was asked for.
        found: String,
        /// The most similar name.
        nearest: Option<&'static str>,
    },
    /// An attack of another tool that goes by another name here, or is not here.
    #[error("there is no attack `{found}`; the nearest is {instead}")]
    ElseCalled {
        /// What was asked for.
        found: String,
        /// What to ask for.
        instead: &'static str,
    },
    /// The attack has no such setting.
    #[error("the attack `{attack}` should have one of the settings {known}, found `{found}`{}", suggestion(nearest.as_deref()))]
    UnknownSetting {
        /// The attack.
        attack: &'static str,
        /// Its settings.
        known: String,
        /// What was asked for.
        found: String,
        /// The most similar one.
        nearest: Option<String>,
    },
    /// A value that the setting cannot have.
    #[error("`{attack}.{setting}` should be {expected}, found `{found}`")]
    BadValue {
        /// The attack.
        attack: &'static str,
        /// The setting.
        setting: &'static str,
        /// What it may be.
        expected: &'static str,
        /// What was given.
        found: String,
    },
}

fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or(String::new(), |nearest| format!("; did you mean `{nearest}`?"))
}

/// One setting: its name and what it may be.
#[derive(Debug)]
pub struct SettingInfo {
    /// Its name.
    pub name: &'static str,
    /// What it may be, in words.
    pub expected: &'static str,
    set: fn(&mut Settings, &str) -> Option<()>,
    show: fn(&Settings) -> String,
}

/// Every setting.
pub const SETTINGS: &[SettingInfo] = &[
    SettingInfo {
        name: "alpha",
        expected: "the length of a step, above 0 and at most 100, e.g. 2/255",
        set: |settings, text| {
            settings.alpha = number(text, 0.0, 100.0).filter(|alpha| 0.0 < *alpha)?;
            Some(())
        },
        show: |settings| fraction(settings.alpha),
    },
    SettingInfo {
        name: "steps",
        expected: "a number of steps from 1 to 100000, or `auto` to derive it from ε",
        set: |settings, text| {
            settings.steps =
                if text == "auto" { Steps::ByEpsilon } else { Steps::Fixed(count(text)?) };
            Some(())
        },
        show: |settings| match settings.steps {
            Steps::Fixed(n) => n.to_string(),
            Steps::ByEpsilon => "auto".to_owned(),
        },
    },
    SettingInfo {
        name: "random_start",
        expected: "`true` or `false`",
        set: |settings, text| {
            settings.random_start = text.parse().ok()?;
            Some(())
        },
        show: |settings| settings.random_start.to_string(),
    },
    SettingInfo {
        name: "decay",
        expected: "a number from 0 to 100",
        set: |settings, text| {
            settings.decay = number(text, 0.0, 100.0)?;
            Some(())
        },
        show: |settings| settings.decay.to_string(),
    },
    SettingInfo {
        name: "eot",
        expected: "a number of slopes from 1 to 100000",
        set: |settings, text| {
            settings.eot = count(text)?;
            Some(())
        },
        show: |settings| settings.eot.to_string(),
    },
    SettingInfo {
        name: "loss",
        expected: "`ce`, `margin` or `dlr`",
        set: |settings, text| {
            settings.loss = LossName::parse(text)?;
            Some(())
        },
        show: |settings| settings.loss.as_str().to_owned(),
    },
    SettingInfo {
        name: "resize_rate",
        expected: "a share of the side from 0.1 to below 1",
        set: |settings, text| {
            settings.resize_rate = number(text, 0.1, 1.0).filter(|rate| *rate < 1.0)?;
            Some(())
        },
        show: |settings| settings.resize_rate.to_string(),
    },
    SettingInfo {
        name: "diversity",
        expected: "a probability from 0 to 1",
        set: |settings, text| {
            settings.diversity = number(text, 0.0, 1.0)?;
            Some(())
        },
        show: |settings| settings.diversity.to_string(),
    },
    SettingInfo {
        name: "kernel",
        expected: "`gaussian`, `linear` or `uniform`",
        set: |settings, text| {
            settings.kernel = KernelName::parse(text)?;
            Some(())
        },
        show: |settings| settings.kernel.as_str().to_owned(),
    },
    SettingInfo {
        name: "kernel_size",
        expected: "an odd number of pixels from 1 to 255",
        set: |settings, text| {
            settings.kernel_size = count(text).filter(|n| n % 2 == 1 && *n <= 255)?;
            Some(())
        },
        show: |settings| settings.kernel_size.to_string(),
    },
    SettingInfo {
        name: "kernel_sds",
        expected: "a number of standard deviations above 0 and at most 10",
        set: |settings, text| {
            settings.kernel_sds = number(text, 0.0, 10.0).filter(|sds| 0.0 < *sds)?;
            Some(())
        },
        show: |settings| settings.kernel_sds.to_string(),
    },
    SettingInfo {
        name: "n_queries",
        expected: "a number of questions from 1 to 100000",
        set: |settings, text| {
            settings.n_queries = count(text)?;
            Some(())
        },
        show: |settings| settings.n_queries.to_string(),
    },
    SettingInfo {
        name: "p_init",
        expected: "a share of pixels above 0 and at most 1",
        set: |settings, text| {
            settings.p_init = number(text, 0.0, 1.0).filter(|share| 0.0 < *share)?;
            Some(())
        },
        show: |settings| settings.p_init.to_string(),
    },
    SettingInfo {
        name: "rho",
        expected: "a share from 0 to 1",
        set: |settings, text| {
            settings.rho = number(text, 0.0, 1.0)?;
            Some(())
        },
        show: |settings| settings.rho.to_string(),
    },
    SettingInfo {
        name: "scale",
        expected: "a number above 0 and at most 1000",
        set: |settings, text| {
            settings.scale = number(text, 0.0, 1000.0).filter(|scale| 0.0 < *scale)?;
            Some(())
        },
        show: |settings| settings.scale.to_string(),
    },
    SettingInfo {
        name: "sd",
        expected: "a standard deviation from 0 to 10",
        set: |settings, text| {
            settings.sd = number(text, 0.0, 10.0)?;
            Some(())
        },
        show: |settings| settings.sd.to_string(),
    },
    SettingInfo {
        name: "gamma",
        expected: "a share above 0 and below 1",
        set: |settings, text| {
            settings.gamma = number(text, 0.0, 1.0).filter(|g| 0.0 < *g && *g < 1.0)?;
            Some(())
        },
        show: |settings| settings.gamma.to_string(),
    },
    SettingInfo {
        name: "first_epsilon",
        expected: "a size above 0 and at most 1000",
        set: |settings, text| {
            settings.first_epsilon = number(text, 0.0, 1000.0).filter(|size| 0.0 < *size)?;
            Some(())
        },
        show: |settings| settings.first_epsilon.to_string(),
    },
    SettingInfo {
        name: "restarts",
        expected: "a number of starts from 1 to 1000",
        set: |settings, text| {
            settings.restarts = count(text).filter(|n| *n <= 1000)?;
            Some(())
        },
        show: |settings| settings.restarts.to_string(),
    },
];

impl LossName {
    fn parse(text: &str) -> Option<LossName> {
        let all = [LossName::CrossEntropy, LossName::Margin, LossName::LogitsRatio];
        all.into_iter().find(|loss| loss.as_str() == text)
    }

    /// The name, as people type it.
    pub fn as_str(self) -> &'static str {
        match self {
            LossName::CrossEntropy => "ce",
            LossName::Margin => "margin",
            LossName::LogitsRatio => "dlr",
        }
    }
}

impl KernelName {
    fn parse(text: &str) -> Option<KernelName> {
        let all = [KernelName::Gaussian, KernelName::Linear, KernelName::Uniform];
        all.into_iter().find(|kernel| kernel.as_str() == text)
    }

    fn as_str(self) -> &'static str {
        match self {
            KernelName::Gaussian => "gaussian",
            KernelName::Linear => "linear",
            KernelName::Uniform => "uniform",
        }
    }
}

impl Preset {
    /// The preset's name, as people type it.
    pub fn as_str(self) -> &'static str {
        match self {
            Preset::Paper => "paper",
            Preset::Torchattacks351 => "torchattacks-3.5.1",
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Preset {
    type Err = String;

    fn from_str(text: &str) -> Result<Preset, String> {
        let all = [Preset::Paper, Preset::Torchattacks351];
        all.into_iter()
            .find(|preset| preset.as_str() == text)
            .ok_or_else(|| format!("expected `paper` or `torchattacks-3.5.1`, found `{text}`"))
    }
}

const LEVEL: f64 = 1.0 / 255.0;

impl Settings {
    /// The settings of an attack by a preset.
    pub fn of(attack: &Attack, preset: Preset) -> Settings {
        let newer = Settings {
            alpha: 2.0 * LEVEL,
            steps: Steps::Fixed(10),
            random_start: true,
            decay: 0.0,
            eot: 1,
            loss: LossName::CrossEntropy,
            resize_rate: 0.9,
            diversity: 0.5,
            kernel: KernelName::Gaussian,
            kernel_size: 15,
            kernel_sds: 3.0,
            n_queries: 5_000,
            p_init: 0.8,
            rho: 0.75,
            scale: 10.0,
            sd: 0.1,
            gamma: 0.05,
            first_epsilon: 1.0,
            restarts: 1,
        };
        let is_paper = preset == Preset::Paper;
        let steps = |older: usize| Steps::Fixed(if is_paper { older } else { 10 });
        let alpha = |older: f64| if is_paper { older * LEVEL } else { 2.0 * LEVEL };
        match attack.name {
            "pgd" => Settings { alpha: alpha(1.0), steps: steps(40), ..newer },
            "upgd" => Settings {
                alpha: alpha(1.0),
                steps: steps(40),
                random_start: false,
                decay: 1.0,
                ..newer
            },
            "apgd" => Settings { steps: steps(100), ..newer },
            "tpgd" => Settings { steps: steps(7), ..newer },
            "eotpgd" => Settings {
                alpha: alpha(8.0),
                steps: steps(40),
                eot: if is_paper { 10 } else { 2 },
                ..newer
            },
            "fgsm" | "fgsm-l2" => Settings { steps: Steps::Fixed(1), ..newer },
            "bim" if is_paper => Settings { alpha: LEVEL, steps: Steps::ByEpsilon, ..newer },
            "rfgsm" => Settings {
                alpha: alpha(8.0),
                steps: Steps::Fixed(if is_paper { 1 } else { 10 }),
                ..newer
            },
            "ffgsm" => Settings { alpha: 10.0 * LEVEL, steps: Steps::Fixed(1), ..newer },
            "mifgsm" => Settings { steps: steps(5), decay: 1.0, ..newer },
            "difgsm" => Settings { steps: steps(20), random_start: false, ..newer },
            "tifgsm" => Settings {
                steps: steps(20),
                random_start: false,
                decay: if is_paper { 1.0 } else { 0.0 },
                diversity: if is_paper { 0.7 } else { 0.5 },
                ..newer
            },
            "jitter" => Settings { steps: steps(40), ..newer },
            "pgd-l2" => Settings { alpha: 0.2, steps: steps(40), ..newer },
            "fmn" | "fmn-l2" => Settings { alpha: 1.0, steps: Steps::Fixed(100), ..newer },
            "square" | "square-l2" => Settings { loss: LossName::Margin, ..newer },
            "ddn" => Settings { steps: Steps::Fixed(100), ..newer },
            _ => newer,
        }
    }

    /// Changes one setting of an attack.
    pub fn set(
        &mut self,
        attack: &'static Attack,
        name: &str,
        value: &str,
    ) -> Result<(), SettingError> {
        let info = SETTINGS.iter().find(|info| info.name == name);
        let info = info.filter(|info| attack.settings.contains(&info.name)).ok_or_else(|| {
            let known: Vec<String> =
                attack.settings.iter().map(|name| format!("`{name}`")).collect();
            SettingError::UnknownSetting {
                attack: attack.name,
                known: known.join(", "),
                found: name.to_owned(),
                nearest: nearest(name, attack.settings.iter().copied()),
            }
        })?;
        let is_other_loss =
            info.name == "loss" && attack.name.starts_with("square") && value == "dlr";
        (info.set)(self, value).filter(|()| !is_other_loss).ok_or_else(|| SettingError::BadValue {
            attack: attack.name,
            setting: info.name,
            expected: if is_other_loss { "`margin` or `ce`" } else { info.expected },
            found: value.to_owned(),
        })
    }

    /// These settings as one line.
    pub(super) fn signature(&self, names: &[&str]) -> String {
        let counts = SETTINGS.iter().filter(|info| names.contains(&info.name));
        let shown = counts.map(|info| format!("{}={}", info.name, (info.show)(self)));
        shown.collect::<Vec<_>>().join(" ")
    }
}

/// Reads a list of attacks: names with commas between, `all` for the fourteen, `linf`, `l2` or
/// `minimal`.
pub fn parse_attacks(names: &[String]) -> Result<Vec<&'static Attack>, SettingError> {
    let mut found: Vec<&'static Attack> = Vec::new();
    for name in names.iter().map(|name| name.trim().to_owned()) {
        let group: Vec<&'static Attack> = match name.to_lowercase().as_str() {
            "all" | "paper" | "linf" => of(|attack| attack.is_of_the_paper()),
            "l2" => of(|attack| attack.norm == Norm::L2 && attack.kind != super::Kind::Minimal),
            "minimal" => of(|attack| attack.kind == super::Kind::Minimal),
            _ => vec![Attack::find(&name).ok_or_else(|| unknown(&name))?],
        };
        for attack in group {
            if !found.iter().any(|other| other.name == attack.name) {
                found.push(attack);
            }
        }
    }
    Ok(found)
}

/// Attacks of other tools that take more than another name here.
const ELSE_CALLED: [(&[&str], &str); 8] = [
    (&["apgd-dlr"], "`apgd` with `--set apgd.loss=dlr`"),
    (
        &["apgd-t", "apgdt"],
        "`pgd` with `--target LABEL`, for each label, or `apgd` with `--set apgd.loss=dlr`",
    ),
    (&["fab", "fab-t", "fab-linf"], "`fmn`, or `ddn` in L2"),
    (&["autoattack", "standard"], "`apgd,square`, and `apgd` with `--set apgd.loss=dlr`"),
    (&["cw", "carlini", "l2carliniwagner", "deepfool", "l2deepfool"], "`ddn` or `fmn-l2`"),
    (&["linfdeepfool", "bb", "linfinfbrendelbethge"], "`fmn`"),
    (&["l2basiciterative", "bim-l2"], "`pgd-l2` with `--set pgd-l2.random_start=false`"),
    (&["linfmomentumiterativefastgradientmethod"], "`mifgsm`"),
];

fn unknown(name: &str) -> SettingError {
    let wanted = plain(name);
    let known = ELSE_CALLED.iter().find(|(names, _)| names.contains(&wanted.as_str()));
    match known {
        Some((_, instead)) => SettingError::ElseCalled { found: name.to_owned(), instead },
        None => {
            SettingError::UnknownAttack { found: name.to_owned(), nearest: Attack::nearest(name) }
        }
    }
}

/// A name without what tools differ in: capitals, what stands between words, and `attack` at the end.
pub(super) fn plain(name: &str) -> String {
    let text = name.trim().to_lowercase().replace(['_', '+', ' '], "-");
    let short = text.strip_suffix("attack").map(|short| short.trim_end_matches('-'));
    match short {
        Some("" | "auto") | None => text,
        Some(short) => short.to_owned(),
    }
}

fn of(is_wanted: impl Fn(&Attack) -> bool) -> Vec<&'static Attack> {
    ATTACKS.iter().copied().filter(|attack| is_wanted(attack)).collect()
}

/// Reads a number or a fraction such as `8/255`, from `low` to `high`.
pub fn number(text: &str, low: f64, high: f64) -> Option<f64> {
    let value = match text.split_once('/') {
        Some((above, below)) => {
            above.trim().parse::<f64>().ok()? / below.trim().parse::<f64>().ok()?
        }
        None => text.trim().parse().ok()?,
    };
    (value.is_finite() && low <= value && value <= high).then_some(value)
}

fn count(text: &str) -> Option<usize> {
    text.parse().ok().filter(|n| (1..=100_000).contains(n))
}

/// A whole number of levels as a fraction, anything else as it is.
fn fraction(value: f64) -> String {
    let levels = value * 255.0;
    if 0.5 < levels && (levels - levels.round()).abs() < 1e-9 {
        return format!("{}/255", levels.round());
    }
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(name: &str, preset: Preset) -> String {
        let attack = Attack::find(name).unwrap();
        attack.signature(&Settings::of(attack, preset))
    }

    #[test]
    fn attacks_are_found_by_the_names_of_other_tools() {
        for (theirs, ours) in [
            ("LinfProjectedGradientDescentAttack", "pgd"),
            ("L2ProjectedGradientDescentAttack", "pgd-l2"),
            ("pgd_l2", "pgd-l2"),
            ("LInfFMNAttack", "fmn"),
            ("L2FMNAttack", "fmn-l2"),
            ("LinfFastGradientAttack", "fgsm"),
            ("L2FastGradientAttack", "fgsm-l2"),
            ("LinfBasicIterativeAttack", "bim"),
            ("DDNAttack", "ddn"),
            ("R+FGSM", "rfgsm"),
            ("RFGSM", "rfgsm"),
            ("apgd-ce", "apgd"),
            ("APGD", "apgd"),
            ("square", "square"),
            ("SquareAttack", "square"),
            ("PGDL2", "pgd-l2"),
        ] {
            assert_eq!(Attack::find(theirs).map(|attack| attack.name), Some(ours), "{theirs}");
        }
        for (theirs, instead) in
            [("apgd-dlr", "apgd.loss=dlr"), ("APGDT", "--target LABEL"), ("FAB", "`fmn`")]
        {
            let error = parse_attacks(&[theirs.to_owned()]).unwrap_err().to_string();
            assert!(error.contains(theirs) && error.contains(instead), "{error}");
        }
    }

    #[test]
    fn presets_are_the_two_generations_of_torchattacks() {
        let both = |name: &str, paper: &str, newer: &str| {
            for (preset, expected) in [(Preset::Paper, paper), (Preset::Torchattacks351, newer)] {
                let found = settings(name, preset);
                for part in expected.split(' ') {
                    let has = found.split(' ').any(|other| other == part);
                    assert!(has, "{name} {preset}: {part} is not in {found}");
                }
            }
        };
        both("pgd", "alpha=1/255 steps=40 random_start=true", "alpha=2/255 steps=10");
        both("upgd", "alpha=1/255 steps=40 random_start=false decay=1", "alpha=2/255 steps=10");
        both("apgd", "steps=100 loss=ce rho=0.75", "steps=10");
        both("tpgd", "alpha=2/255 steps=7", "alpha=2/255 steps=10");
        both("eotpgd", "alpha=8/255 steps=40 eot=10", "alpha=2/255 steps=10 eot=2");
        both("bim", "alpha=1/255 steps=auto", "alpha=2/255 steps=10");
        both("rfgsm", "alpha=8/255 steps=1", "alpha=2/255 steps=10");
        both("ffgsm", "alpha=10/255", "alpha=10/255");
        both("mifgsm", "alpha=2/255 steps=5 decay=1", "steps=10 decay=1");
        both("difgsm", "steps=20 decay=0 resize_rate=0.9 diversity=0.5", "steps=10 decay=0");
        both("tifgsm", "steps=20 decay=1 diversity=0.7", "steps=10 decay=0 diversity=0.5");
        both("square", "n_queries=5000 p_init=0.8 loss=margin", "n_queries=5000");
        both("jitter", "alpha=2/255 steps=40 scale=10 sd=0.1", "steps=10");
    }

    #[test]
    fn the_basic_iterative_method_derives_its_steps_from_epsilon() {
        let expected = [
            (0.003, 0),
            (0.0031, 0),
            (0.0032, 1),
            (0.0062, 1),
            (0.0063, 2),
            (4.0 / 255.0, 5),
            (8.0 / 255.0, 10),
            (16.0 / 255.0, 20),
            (0.05, 15),
        ];
        for (epsilon, n) in expected {
            assert_eq!(Steps::ByEpsilon.at(epsilon), n, "{epsilon}");
        }
    }

    #[test]
    fn a_mistake_in_typing_is_named_with_what_was_meant() {
        let names = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        let error = parse_attacks(&names("pgd,fgms")).unwrap_err();
        assert_eq!(error.to_string(), "there is no attack `fgms`; did you mean `fgsm`?");
        let pgd = Attack::find("PGD").unwrap();
        let mut settings = Settings::of(pgd, Preset::Paper);
        let error = settings.set(pgd, "step", "3").unwrap_err().to_string();
        assert!(error.ends_with("found `step`; did you mean `steps`?"), "{error}");
        let error = settings.set(pgd, "alpha", "-1").unwrap_err().to_string();
        assert!(error.starts_with("`pgd.alpha` should be the length of a step"), "{error}");
        settings.set(pgd, "alpha", "3/255").unwrap();
        assert!(pgd.signature(&settings).contains("alpha=3/255"));
    }

    #[test]
    fn groups_are_the_fourteen_their_forms_in_l2_and_those_without_a_grid() {
        let count = |group: &str| parse_attacks(&[group.to_owned()]).unwrap().len();
        assert_eq!((count("all"), count("l2"), count("minimal")), (14, 3, 3));
        assert_eq!(parse_attacks(&["pgd".into(), "all".into()]).unwrap().len(), 14);
        for name in ["LinfPGD", "apgd-ce", "PGDL2", "I-FGSM"] {
            assert!(Attack::find(name).is_some(), "{name}");
        }
    }
}

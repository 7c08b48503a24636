//! The flash linter: how often a study flashes in a second, by the rule of WCAG 2.3.1.
//!
//! Flashes can cause seizures, so what a participant would see is counted before anybody does: from
//! the pixels of pictures and masks, the colours of the page, and the schedule with the quickest
//! participant there can be. `docs/methods/flash-safety.md` has the reasons.
//!
//! # Rule
//!
//! ```text
//! L              =  0.2126 R + 0.7152 G + 0.0722 B,   R, G, B linear (sRGB), white is 1
//! change         =  from one screen to a later one, where |ΔL| ≥ 0.10 and the darker L < 0.80
//! red change     =  the same, where R / (R + G + B) ≥ 0.8 in one of them and Δu'v' > 0.2
//! flashes        =  half of the longest run of alternating changes (up, down, up …), rounded down
//! ```
//!
//! The run is taken within any second, for each pixel by itself, over trials that follow each other
//! at once; red changes are counted apart, up meaning towards red. A study flashes n times if the
//! pixels that flash at least n times cover 0.006 sr together, a quarter of a field of 10°.
//!
//! # How it is counted
//!
//! A pixel shows the background, the picture, the mask and the background again, so all that
//! matters is how these three compare: 27 kinds of pixels ([`Tones`]). They are counted once, and
//! every schedule is judged from the counts.

use mohs_data::{FlashDesign, Millis, ScreenRules};

use crate::pixels::Rgb8;

/// Colour of the page around and before a stimulus, in 8 bits (`#808080`). The cross is black and
/// too small to count; the screen with the answers is judged as background.
pub const BACKGROUND: [u8; 3] = [128; 3];
/// The most flashes in a second that are safe.
pub const MOST_FLASHES: u32 = 3;
/// How long the screen with the answers stays at least: a frame at 60 Hz, for a key held down.
const FASTEST_ANSWER_MS: f64 = 1000.0 / 60.0;
/// A second.
const WINDOW_MS: f64 = 1000.0;
/// A change of luminance that counts, as a share of white.
const LUMINANCE_CHANGE: f64 = 0.1;
/// Changes between two levels above this do not count.
const BRIGHT: f64 = 0.8;
/// Share of red from which a colour is a saturated red.
const RED_SHARE: f64 = 0.8;
/// A change of colour that counts (CIE 1976 u'v').
const COLOUR_CHANGE: f64 = 0.2;
/// Flashing areas below this do not count, in steradian.
const AREA_SR: f64 = 0.006;
/// The same as a share of the picture, where its size is not measured.
const AREA_SHARE: f64 = 0.25;
/// The same in pixels of the page: a quarter of 341 × 256, which WCAG takes for 10° of a usual screen.
const AREA_PX: f64 = 0.25 * 341.0 * 256.0;
/// Kinds of pixels: three comparisons with three outcomes each.
const N_KINDS: usize = 27;

/// How the pixels of a picture compare with background and mask: counts of 27 kinds, for luminance
/// and for red.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tones {
    luminance: [u32; N_KINDS],
    red: [u32; N_KINDS],
}

/// What is shown when, in the worst case.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// How long a picture is shown.
    pub exposures: Vec<Millis>,
    /// How long its mask is shown; nothing if there are none.
    pub mask: Option<Millis>,
    /// From the end of the mask to the next picture.
    pub between: Millis,
    /// The share of a picture that must flash to count; above 1 nothing counts.
    pub area_share: f64,
}

/// What a pixel shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Screen {
    Background,
    Picture,
    Mask,
}

impl Tones {
    /// Compares background, picture and mask at each pixel; both pictures must have one size.
    pub fn new(picture: &Rgb8, mask: Option<&Rgb8>) -> Tones {
        let linear = linear_levels();
        let mut tones = Tones { luminance: [0; N_KINDS], red: [0; N_KINDS] };
        let background = Colour::new(BACKGROUND, &linear);
        let pixels = picture.bytes().as_chunks::<3>().0;
        let masks = mask.map(|mask| mask.bytes().as_chunks::<3>().0);
        for (at, &pixel) in pixels.iter().enumerate() {
            let colour = Colour::new(pixel, &linear);
            let mask = masks.map_or(background, |masks| Colour::new(masks[at], &linear));
            let three = [background, colour, mask];
            tones.luminance[kind(&three, Colour::luminance_change)] += 1;
            tones.red[kind(&three, Colour::red_change)] += 1;
        }
        tones
    }

    /// Returns the counts as text, for files: kinds that occur, `KIND:COUNT` each.
    pub fn to_text(&self) -> String {
        let text = |counts: &[u32; N_KINDS]| {
            let occurring = counts.iter().enumerate().filter(|(_, count)| 0 < **count);
            let parts: Vec<String> = occurring.map(|(kind, n)| format!("{kind}:{n}")).collect();
            parts.join(" ")
        };
        format!("{};{}", text(&self.luminance), text(&self.red))
    }

    /// Reads the text; `None` if it is not what [`Tones::to_text`] writes.
    pub fn parse(text: &str) -> Option<Tones> {
        let counts = |text: &str| {
            let mut counts = [0; N_KINDS];
            for part in text.split(' ').filter(|part| !part.is_empty()) {
                let (kind, count) = part.split_once(':')?;
                *counts.get_mut(kind.parse::<usize>().ok()?)? = count.parse().ok()?;
            }
            Some(counts)
        };
        let (luminance, red) = text.split_once(';')?;
        Some(Tones { luminance: counts(luminance)?, red: counts(red)? })
    }
}

impl Schedule {
    /// Returns the schedule of flashes with the quickest answers; `has_masks` says whether masks are
    /// shown.
    pub fn new(design: &FlashDesign, screen: &ScreenRules, has_masks: bool) -> Schedule {
        let mask = Some(design.mask_ms).filter(|ms| has_masks && 0.0 < ms.value());
        let between = FASTEST_ANSWER_MS + design.gap_ms.value() + design.fixation_ms.value();
        Schedule {
            exposures: design.exposures_ms.clone(),
            mask,
            between: Millis::new(between).unwrap_or(design.gap_ms),
            area_share: area_share(screen),
        }
    }

    /// Returns what a pixel shows from when on, from the first picture until a second after the
    /// first trial.
    fn screens(&self, exposure: Millis) -> Vec<(f64, Screen)> {
        let mut screens = Vec::new();
        let (mut at, mut end) = (0.0, f64::MAX);
        while at < end {
            screens.push((at, Screen::Picture));
            at += exposure.value();
            if let Some(mask) = self.mask {
                screens.push((at, Screen::Mask));
                at += mask.value();
            }
            screens.push((at, Screen::Background));
            at += self.between.value();
            end = end.min(at + WINDOW_MS);
        }
        screens
    }
}

/// Returns the share of a picture that is enough to flash, for the participant who gets the largest one.
fn area_share(screen: &ScreenRules) -> f64 {
    let unmeasured = AREA_SHARE.min(AREA_PX / f64::from(screen.size_px).powi(2));
    if !screen.calibrate {
        return unmeasured;
    }
    // Ω = 4 asin(sin²(θ / 2)), the solid angle of a square of θ degrees a side.
    let half = (screen.size_deg / 2.0).to_radians().sin();
    let measured = AREA_SR / (4.0 * (half * half).asin());
    // Whoever has no card is shown the picture as if nothing were measured.
    measured.min(unmeasured)
}

/// Returns the most flashes in any second, over all exposures: general or red ones, whichever are
/// more.
pub fn flashes(tones: &Tones, schedule: &Schedule) -> u32 {
    let most = |counts: &[u32; N_KINDS]| {
        let exposures = schedule.exposures.iter();
        exposures.map(|exposure| most_flashes(counts, schedule, *exposure)).max().unwrap_or(0)
    };
    most(&tones.luminance).max(most(&tones.red))
}

fn most_flashes(counts: &[u32; N_KINDS], schedule: &Schedule, exposure: Millis) -> u32 {
    let screens = schedule.screens(exposure);
    let n_per_trial = if schedule.mask.is_some() { 3 } else { 2 };
    (0..n_per_trial)
        .map(|first| {
            // A second from the start of one screen, coming from the one before.
            let start = screens[first].0;
            let before = if first == 0 { Screen::Background } else { screens[first - 1].1 };
            let seen = screens[first..].iter().take_while(|(at, _)| *at < start + WINDOW_MS);
            let seen: Vec<Screen> =
                std::iter::once(before).chain(seen.map(|(_, screen)| *screen)).collect();
            widespread(counts, schedule.area_share, |kind| n_changes(kind, &seen) / 2)
        })
        .max()
        .unwrap_or(0)
}

/// Returns the largest number of flashes that enough pixels reach.
fn widespread(counts: &[u32; N_KINDS], share: f64, n_flashes: impl Fn(usize) -> u32) -> u32 {
    let n_pixels: f64 = counts.iter().map(|count| f64::from(*count)).sum();
    let mut reached: Vec<(u32, f64)> = counts
        .iter()
        .enumerate()
        .filter(|(_, count)| 0 < **count)
        .map(|(kind, count)| (n_flashes(kind), f64::from(*count)))
        .collect();
    reached.sort_unstable_by_key(|(n_flashes, _)| std::cmp::Reverse(*n_flashes));
    let mut n_flashing = 0.0;
    for (n_flashes, count) in reached {
        n_flashing += count;
        if share * n_pixels <= n_flashing {
            return n_flashes;
        }
    }
    0
}

/// Returns the length of the longest run of alternating changes over these screens.
fn n_changes(kind: usize, screens: &[Screen]) -> u32 {
    // longest[screen][direction]: the longest run that ends there; none where not seen yet.
    let mut longest: [Option<[u32; 2]>; 3] = [None; 3];
    let mut most = 0;
    for &screen in screens {
        let mut here = longest[screen as usize].unwrap_or_default();
        for (from, known) in longest.iter().enumerate() {
            let Some(known) = known else { continue };
            let direction = match direction(kind, from, screen as usize) {
                0 => continue,
                1 => 0,
                _ => 1,
            };
            here[direction] = here[direction].max(known[1 - direction] + 1);
        }
        most = most.max(here[0]).max(here[1]);
        longest[screen as usize] = Some(here);
    }
    most
}

/// Returns the kind of a pixel with these three colours.
fn kind(three: &[Colour; 3], change: fn(&Colour, &Colour) -> i8) -> usize {
    let digit = |from: usize, to: usize| match change(&three[from], &three[to]) {
        0 => 0,
        1 => 1,
        _ => 2,
    };
    9 * digit(0, 1) + 3 * digit(1, 2) + digit(2, 0)
}

/// Returns 1 where the change from one screen to another goes up, 2 where it goes down, 0 where it
/// does not count.
fn direction(kind: usize, from: usize, to: usize) -> usize {
    let digits = [kind / 9, kind / 3 % 3, kind % 3];
    match (from, to) {
        (0, 1) => digits[0],
        (1, 2) => digits[1],
        (2, 0) => digits[2],
        (1, 0) => (3 - digits[0]) % 3,
        (2, 1) => (3 - digits[1]) % 3,
        (0, 2) => (3 - digits[2]) % 3,
        _ => 0,
    }
}

/// A colour as light.
#[derive(Debug, Clone, Copy)]
struct Colour {
    linear: [f64; 3],
    luminance: f64,
    red_share: f64,
}

impl Colour {
    fn new(levels: [u8; 3], linear: &[f64; 256]) -> Colour {
        let linear = levels.map(|level| linear[usize::from(level)]);
        let [red, green, blue] = linear;
        let sum = red + green + blue;
        Colour {
            linear,
            luminance: 0.2126 * red + 0.7152 * green + 0.0722 * blue,
            red_share: if sum == 0.0 { 0.0 } else { red / sum },
        }
    }

    fn luminance_change(&self, to: &Colour) -> i8 {
        let change = to.luminance - self.luminance;
        let counts = LUMINANCE_CHANGE <= change.abs() && self.luminance.min(to.luminance) < BRIGHT;
        sign(change, counts)
    }

    fn red_change(&self, to: &Colour) -> i8 {
        let is_red = RED_SHARE <= self.red_share || RED_SHARE <= to.red_share;
        if !is_red {
            return 0;
        }
        let (a, b) = (self.chromaticity(), to.chromaticity());
        let distance = (a[0] - b[0]).hypot(a[1] - b[1]);
        sign(to.red_share - self.red_share, COLOUR_CHANGE < distance)
    }

    /// Returns CIE 1976 u' and v'; those of white for black.
    fn chromaticity(&self) -> [f64; 2] {
        let [red, green, blue] = self.linear;
        let x = 0.4124 * red + 0.3576 * green + 0.1805 * blue;
        let y = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        let z = 0.0193 * red + 0.1192 * green + 0.9505 * blue;
        let sum = x + 15.0 * y + 3.0 * z;
        if sum == 0.0 { [0.1978, 0.4683] } else { [4.0 * x / sum, 9.0 * y / sum] }
    }
}

fn sign(change: f64, counts: bool) -> i8 {
    if !counts {
        0
    } else if 0.0 < change {
        1
    } else {
        -1
    }
}

/// Returns the light of each of 256 levels (sRGB).
fn linear_levels() -> [f64; 256] {
    let mut levels = [0.0; 256];
    for (level, linear) in (0_u8..=255).zip(&mut levels) {
        let share = f64::from(level) / 255.0;
        *linear =
            if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) };
    }
    levels
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn flat(level: [u8; 3]) -> Rgb8 {
        Rgb8::new(4, 4, level.repeat(16)).unwrap()
    }

    fn ms(value: f64) -> Millis {
        Millis::new(value).unwrap()
    }

    fn schedule(exposure: f64, mask: f64, between: f64) -> Schedule {
        let mask = (0.0 < mask).then(|| ms(mask));
        Schedule { exposures: vec![ms(exposure)], mask, between: ms(between), area_share: 0.25 }
    }

    #[track_caller]
    fn check(picture: [u8; 3], mask: Option<[u8; 3]>, schedule: &Schedule, expected: u32) {
        let tones = Tones::new(&flat(picture), mask.map(flat).as_ref());
        assert_eq!(flashes(&tones, schedule), expected);
    }

    const WHITE: [u8; 3] = [255; 3];
    const BLACK: [u8; 3] = [0; 3];
    const RED: [u8; 3] = [255, 0, 0];

    #[test]
    fn white_and_black_every_17_ms_flash_20_times_in_a_second() {
        // Trials of 51 ms: white from 0, 51 … 969 and black from 17, 68 … 986 ms, 40 changes.
        check(WHITE, Some(BLACK), &schedule(17.0, 17.0, 17.0), 20);
    }

    #[test]
    fn an_unhurried_trial_flashes_once() {
        // Up to white, down to black, up to the background: three changes in 517 ms.
        check(WHITE, Some(BLACK), &schedule(17.0, 500.0, 1_000.0), 1);
        check(WHITE, None, &schedule(17.0, 0.0, 1_000.0), 1);
        // Up from the background in the one trial and down to it in the other are 10 s apart.
        check(WHITE, None, &schedule(10_000.0, 0.0, 1_000.0), 0);
    }

    #[test]
    fn trials_without_a_pause_flash_as_often_as_they_fit_a_second() {
        // 250 ms each: four times up and four times down.
        check(WHITE, None, &schedule(125.0, 0.0, 125.0), 4);
        // Three in a second are allowed, and the fourth begins with the next second.
        check(WHITE, None, &schedule(500.0 / 3.0, 0.0, 500.0 / 3.0), 3);
    }

    #[test]
    fn grey_on_grey_does_not_flash_and_neither_do_steps_below_a_tenth() {
        check(BACKGROUND, Some(BACKGROUND), &schedule(17.0, 17.0, 17.0), 0);
        // The background has a luminance of 0.216; level 149 has 0.301, level 150 0.305, 151 0.309,
        // and level 153 0.319, more than a tenth above.
        check([150; 3], None, &schedule(17.0, 0.0, 17.0), 0);
        // Every 34 ms: 30 rises and 29 falls.
        check([153; 3], None, &schedule(17.0, 0.0, 17.0), 29);
    }

    #[test]
    fn small_steps_in_one_direction_add_up() {
        // 0.216, 0.276, 0.343: neither step counts, both together do.
        check([144; 3], Some([159; 3]), &schedule(50.0, 50.0, 100.0), 5);
    }

    #[test]
    fn changes_between_bright_levels_do_not_count() {
        // Luminances of 0.816 and 1.
        let bright = [233; 3];
        let tones = Tones::new(&flat(bright), Some(&flat(WHITE)));
        assert_eq!(tones.to_text(), "11:16;0:16");
        assert_eq!([direction(11, 0, 1), direction(11, 1, 2), direction(11, 2, 0)], [1, 0, 2]);
    }

    #[test]
    fn saturated_red_flashes_without_a_change_of_luminance() {
        // Red has a luminance of 0.213, the background of 0.216.
        check(RED, Some(BACKGROUND), &schedule(17.0, 500.0, 1_000.0), 1);
        check(RED, None, &schedule(100.0, 0.0, 100.0), 5);
        check([150, 120, 120], None, &schedule(100.0, 0.0, 100.0), 0);
    }

    #[test]
    fn a_small_part_of_the_picture_does_not_count() {
        let mut bytes = BACKGROUND.repeat(16);
        bytes[..9].fill(255);
        let tones = Tones::new(&Rgb8::new(4, 4, bytes.clone()).unwrap(), None);
        assert_eq!(flashes(&tones, &schedule(17.0, 0.0, 17.0)), 0);
        bytes[..12].fill(255);
        let tones = Tones::new(&Rgb8::new(4, 4, bytes).unwrap(), None);
        assert_eq!(flashes(&tones, &schedule(17.0, 0.0, 17.0)), 29);
    }

    #[test]
    fn the_papers_schedule_is_safe_and_one_without_pauses_is_not() {
        let (mut design, screen) = (FlashDesign::default(), ScreenRules::default());
        let tones = Tones::new(&flat(WHITE), Some(&flat(BLACK)));
        assert_eq!(flashes(&tones, &Schedule::new(&design, &screen, true)), 1);
        (design.fixation_ms, design.gap_ms, design.mask_ms) = (ms(0.0), ms(0.0), ms(100.0));
        assert_eq!(flashes(&tones, &Schedule::new(&design, &screen, true)), 8);
    }

    #[test]
    fn the_largest_picture_that_a_participant_may_get_is_counted() {
        let check = |size_deg, size_px, calibrate, share: f64| {
            let screen = ScreenRules { size_deg, size_px, calibrate, ..ScreenRules::default() };
            let found = area_share(&screen);
            assert!((found - share).abs() < 1e-4, "{size_deg}° {size_px} px: {found}");
        };
        // 30°: Ω = 4 asin(sin² 15°) = 0.268164 sr.
        check(30.0, 100, true, 0.006 / 0.268_164);
        check(30.0, 100, false, 0.25);
        // Small when measured, but not for who has no card.
        check(4.0, 400, true, 21_824.0 / 160_000.0);
        check(4.0, 100, true, 0.25);
        check(4.0, 400, false, 21_824.0 / 160_000.0);
    }

    #[test]
    fn who_has_no_card_sees_the_flashes_of_a_small_picture() {
        let mut bytes = BACKGROUND.repeat(4);
        bytes[..6].fill(255);
        let tones = Tones::new(&Rgb8::new(4, 1, bytes).unwrap(), None);
        let design =
            FlashDesign { fixation_ms: ms(0.0), gap_ms: ms(0.0), ..FlashDesign::default() };
        let screen = ScreenRules { size_deg: 4.0, ..ScreenRules::default() };
        assert!(MOST_FLASHES < flashes(&tones, &Schedule::new(&design, &screen, false)));
    }

    #[test]
    fn counts_are_read_back_from_their_text() {
        let tones = Tones::new(&flat(RED), Some(&flat(WHITE)));
        assert_eq!(Tones::parse(&tones.to_text()), Some(tones));
        for text in ["", "1:2", "27:1;", "1:x;", "1:1;-"] {
            assert_eq!(Tones::parse(text), None, "{text}");
        }
    }

    /// A picture of grey levels with luminances up to 0.8, where the rule grows with contrast.
    fn greys(levels: &[u8]) -> Rgb8 {
        let bytes: Vec<u8> = levels.iter().flat_map(|level| [*level; 3]).collect();
        Rgb8::new(u32::try_from(levels.len()).unwrap(), 1, bytes).unwrap()
    }

    /// Moves a level towards the background; never past it, and the order of levels stays.
    fn dimmed(levels: &[u8], share: f64) -> Vec<u8> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between two levels"
        )]
        let dim = |level: &u8| {
            let linear = linear_levels();
            let background = linear[128];
            let wanted = background + share * (linear[usize::from(*level)] - background);
            let mut best = 0.0_f64;
            for (level, light) in linear.iter().enumerate() {
                #[expect(clippy::cast_precision_loss, reason = "at most 255")]
                if *light <= wanted + 1e-12 {
                    best = level as f64;
                }
            }
            best as u8
        };
        levels.iter().map(dim).collect()
    }

    proptest! {
        #[test]
        fn a_longer_gap_never_flashes_more(
            levels in prop::collection::vec(any::<u8>(), 12), exposure in 1.0..400.0,
            mask in 0.0..400.0, gap in 1.0..600.0, more in 0.0..600.0,
        ) {
            let tones = Tones::new(&greys(&levels[..6]), Some(&greys(&levels[6..])));
            let short = flashes(&tones, &schedule(exposure, mask, gap));
            let long = flashes(&tones, &schedule(exposure, mask, gap + more));
            prop_assert!(long <= short, "{long} {short}");
            let longer = flashes(&tones, &schedule(exposure + more, mask, gap));
            prop_assert!(longer <= short, "{longer} {short}");
        }

        #[test]
        fn less_contrast_never_flashes_more(
            levels in prop::collection::vec(0_u8..=230, 12), share in 0.0..1.0,
            exposure in 1.0..400.0, mask in 1.0..400.0, gap in 1.0..600.0,
        ) {
            // Rounding to levels can widen a step by one of them, so a third of it is left aside.
            let dim = dimmed(&levels, share * 0.66);
            let count = |levels: &[u8]| {
                let tones = Tones::new(&greys(&levels[..6]), Some(&greys(&levels[6..])));
                flashes(&tones, &schedule(exposure, mask, gap))
            };
            prop_assert!(count(&dim) <= count(&levels));
        }

        #[test]
        fn nobody_counts_more_changes_than_there_are(
            kind in 0_usize..N_KINDS, n_trials in 1_usize..20,
        ) {
            let one = [Screen::Picture, Screen::Mask, Screen::Background];
            let screens: Vec<Screen> =
                std::iter::once(Screen::Background).chain(one.repeat(n_trials)).collect();
            let n = n_changes(kind, &screens);
            prop_assert!(usize::try_from(n).unwrap() < screens.len());
        }
    }
}

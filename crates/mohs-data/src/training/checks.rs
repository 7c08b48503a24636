//! Whether a training makes sense: numbers in their ranges, and one source for each thing.

use std::path::Path;

use super::{Optimiser, ScheduleKind, SetEntry, TrainingPlan};
use crate::{FileError, Problem};

/// Epochs and batches beyond this are slips of the hand.
const MOST: u32 = 1_000_000;
/// Pictures with longer sides are slips of the hand.
const LONGEST_SIDE: u32 = 4_096;

impl TrainingPlan {
    /// Says whether the plan makes sense; `path` is only for errors.
    pub fn check(&self, path: &Path) -> Result<(), FileError> {
        let mut checker = Checker { path, wrong: None };
        self.look(&mut checker);
        match checker.wrong {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn look(&self, check: &mut Checker<'_>) {
        let whole = |n: u32| n.to_string();
        check.that(0 < self.version, "version", "1 or more", || self.version.to_string());
        check.that(!self.name.as_str().is_empty(), "name", "a name", String::new);
        let in_range = |n: u32| (1..=MOST).contains(&n);
        check.that(in_range(self.epochs), "epochs", "from 1 to 1000000", || whole(self.epochs));
        check.that(in_range(self.batch), "batch", "from 1 to 1000000", || whole(self.batch));
        check.number(
            "label_smoothing",
            "a share from 0 to below 1",
            self.label_smoothing,
            |share| (0.0..1.0).contains(&share),
        );
        if let Some(longest) = self.clip_norm {
            check.number("clip_norm", "above 0", longest, |n| 0.0 < n);
        }
        self.look_at_network(check);
        if let Some(size) = self.input.size {
            let fits = (8..=LONGEST_SIDE).contains(&size);
            check.that(fits, "input.size", "from 8 to 4096 pixels", || whole(size));
        }
        for (key, numbers) in [("input.mean", self.input.mean), ("input.sd", self.input.sd)] {
            for number in numbers.into_iter().flatten() {
                let expected = if key == "input.sd" { "numbers above 0" } else { "finite numbers" };
                check.number(key, expected, number, |n| key == "input.mean" || 0.0 < n);
            }
        }
        look_at_set(check, "train", &self.train);
        look_at_set(check, "validation", &self.validation);
        self.look_at_optimiser(check);
        self.look_at_schedule(check);
        self.look_at_augmentation(check);
        if let Some(stop) = &self.early_stop {
            check.that(0 < stop.patience, "early_stop.patience", "1 or more", || "0".into());
            check.number("early_stop.min_change", "0 or more", stop.min_change, |n| 0.0 <= n);
        }
    }

    fn look_at_network(&self, check: &mut Checker<'_>) {
        let network = &self.network;
        match (&network.architecture, &network.file) {
            (Some(_), None) | (None, Some(_)) => {}
            (found, _) => {
                let found = if found.is_some() { "both" } else { "" };
                check.hinted(
                    "network",
                    "either `architecture` or `file`",
                    found,
                    "architecture = \"plain\", \"residual\" or \"transformer\"; or file = \"….onnx\"",
                );
            }
        }
        if network.architecture.is_some() {
            let only_file = [
                ("network.weights", !network.weights.is_empty()),
                ("network.new_head", network.new_head),
            ];
            for (key, is_given) in only_file {
                check.that(!is_given, key, "left out without `file`", || "a value".into());
            }
        } else {
            let only_built = [
                ("network.width", network.width),
                ("network.depth", network.depth),
                ("network.patch", network.patch),
            ];
            for (key, value) in only_built {
                check.that(value.is_none(), key, "left out with `file`", || "a value".into());
            }
        }
        for (key, value, most) in [
            ("network.width", network.width, 1_024),
            ("network.depth", network.depth, 64),
            ("network.patch", network.patch, 256),
        ] {
            if let Some(value) = value {
                let expected = format!("from 1 to {most}");
                let fits = (1..=most).contains(&value);
                check.that(fits, key, &expected, || value.to_string());
            }
        }
    }

    fn look_at_optimiser(&self, check: &mut Checker<'_>) {
        let is_share = |n: f64| (0.0..1.0).contains(&n);
        let is_not_negative = |n: f64| 0.0 <= n;
        match &self.optimiser {
            None => {}
            Some(Optimiser::Sgd { learning_rate, momentum, nesterov, weight_decay, .. }) => {
                check.number("optimiser.learning_rate", "above 0", *learning_rate, |n| 0.0 < n);
                check.number("optimiser.momentum", "from 0 to below 1", *momentum, is_share);
                check.number("optimiser.weight_decay", "0 or more", *weight_decay, is_not_negative);
                let looks_at_nothing = *nesterov && *momentum == 0.0;
                let found = || "true with momentum 0".to_owned();
                check.that(!looks_at_nothing, "optimiser.nesterov", "false", found);
            }
            Some(Optimiser::Adam(adam) | Optimiser::Adamw(adam)) => {
                check.number("optimiser.learning_rate", "above 0", adam.learning_rate, |n| 0.0 < n);
                check.number("optimiser.beta1", "from 0 to below 1", adam.beta1, is_share);
                check.number("optimiser.beta2", "from 0 to below 1", adam.beta2, is_share);
                check.number("optimiser.epsilon", "0 or more", adam.epsilon, is_not_negative);
                let decay = adam.weight_decay;
                check.number("optimiser.weight_decay", "0 or more", decay, is_not_negative);
            }
        }
    }

    fn look_at_schedule(&self, check: &mut Checker<'_>) {
        let schedule = &self.schedule;
        let epochs = f64::from(self.epochs);
        let expected = "from 0 to the number of epochs";
        check.number("schedule.warm_up", expected, schedule.warm_up, |n| {
            (0.0..=epochs).contains(&n)
        });
        check.number("schedule.gamma", "above 0", schedule.gamma, |n| 0.0 < n);
        check.number("schedule.floor", "a share from 0 to 1", schedule.floor, |n| {
            (0.0..=1.0).contains(&n)
        });
        let has_milestones = !schedule.milestones.is_empty();
        if schedule.kind == ScheduleKind::Step && !has_milestones {
            check.hinted("schedule.milestones", "one or more epochs", "", "milestones = [10, 15]");
        }
        let is_ascending = schedule.milestones.is_sorted_by(|a, b| a < b);
        let found = || format!("{:?}", schedule.milestones);
        check.that(is_ascending, "schedule.milestones", "ascending epochs", found);
        let fits = schedule.kind == ScheduleKind::Step || !has_milestones;
        check.that(fits, "schedule.milestones", "left out unless kind is `step`", found);
    }

    fn look_at_augmentation(&self, check: &mut Checker<'_>) {
        let how = &self.augmentation;
        for (key, number) in [
            ("augmentation.brightness", how.brightness),
            ("augmentation.contrast", how.contrast),
            ("augmentation.colour", how.colour),
        ] {
            check.number(key, "from 0 to 1", number, |n| (0.0..=1.0).contains(&n));
        }
        check.number("augmentation.rotation", "from 0 to 180 degrees", how.rotation, |n| {
            (0.0..=180.0).contains(&n)
        });
        if let Some([low, high]) = how.resized_crop {
            let fits = 0.0 < low && low <= high && high <= 1.0;
            let expected = "two ascending shares, e.g. [0.5, 1.0]";
            let found = || format!("[{low}, {high}]");
            check.that(fits, "augmentation.resized_crop", expected, found);
        }
        for (key, pixels) in
            [("augmentation.crop_padding", how.crop_padding), ("augmentation.cutout", how.cutout)]
        {
            let fits = pixels <= LONGEST_SIDE;
            check.that(fits, key, "at most 4096 pixels", || pixels.to_string());
        }
    }
}

fn look_at_set(check: &mut Checker<'_>, key: &str, set: &SetEntry) {
    let is_train = key == "train";
    let given = [set.stimuli.is_some(), set.world.is_some(), set.share.is_some()];
    let n_given = given.iter().filter(|is_given| **is_given).count();
    if is_train && set.share.is_some() {
        check.that(false, "train.share", "left out; a share is for validation", || "one".into());
    }
    if 1 < n_given || (is_train && n_given == 0) {
        let found = if n_given == 0 { "" } else { "several" };
        check.hinted(
            key,
            "one of `stimuli` and `world`",
            found,
            "stimuli = \"photos/\", or world = { seed = 1, n = 4000 }",
        );
    }
    if let Some(share) = set.share {
        check.number("validation.share", "between 0 and 1", share, |n| 0.0 < n && n < 1.0);
    }
    if let Some(world) = &set.world {
        let in_range = (1..=MOST).contains(&world.n);
        let named = |part: &str| format!("{key}.world.{part}");
        check.that(in_range, &named("n"), "from 1 to 1000000", || world.n.to_string());
        let in_range = (32..=1_024).contains(&world.size);
        check.that(in_range, &named("size"), "from 32 to 1024 pixels", || world.size.to_string());
    }
}

/// Collects the first thing that is wrong.
struct Checker<'a> {
    path: &'a Path,
    wrong: Option<FileError>,
}

impl Checker<'_> {
    fn that(&mut self, holds: bool, key: &str, expected: &str, found: impl FnOnce() -> String) {
        if !holds {
            self.complain(key, expected, found(), None);
        }
    }

    fn number(&mut self, key: &str, expected: &str, number: f64, fits: impl Fn(f64) -> bool) {
        if !number.is_finite() || !fits(number) {
            self.complain(key, expected, number.to_string(), None);
        }
    }

    fn hinted(&mut self, key: &str, expected: &str, found: &str, hint: &str) {
        self.complain(key, expected, found.to_owned(), Some(hint.to_owned()));
    }

    fn complain(&mut self, key: &str, expected: &str, found: String, hint: Option<String>) {
        if self.wrong.is_none() {
            let problem = Problem::BadValue { expected: expected.into(), found, hint };
            self.wrong = Some(FileError::new(self.path, problem).in_column(key));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "version = 1\nname = \"a\"\nnetwork = { architecture = \"plain\" }\n\
                        train = { world = { seed = 2, n = 64 } }\n";

    fn parse(text: &str) -> Result<TrainingPlan, FileError> {
        TrainingPlan::parse(Path::new("fit.toml"), text)
    }

    fn error_of(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn a_short_plan_has_usual_values() {
        let plan = parse(HEAD).unwrap();
        assert_eq!((plan.epochs, plan.batch, plan.seed.0.0), (20, 64, 1));
        assert_eq!(plan.validation_share(), Some(TrainingPlan::USUAL_SHARE));
        assert!(matches!(plan.optimiser(), Optimiser::Sgd { nesterov: true, .. }));
    }

    #[test]
    fn a_plan_comes_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fit.toml");
        let mut plan = parse(&format!(
            "{HEAD}[optimiser]\nkind = \"adamw\"\nlearning_rate = 0.001\n\
             [schedule]\nkind = \"step\"\nmilestones = [3, 7]\n\
             [early_stop]\npatience = 2\non = \"accuracy\"\n"
        ))
        .unwrap();
        plan.clip_norm = Some(1.0);
        plan.write(&path).unwrap();
        assert_eq!(TrainingPlan::read(&path).unwrap(), plan);
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        let with = |more: &str| error_of(&format!("{HEAD}{more}"));
        insta::assert_snapshot!(
            error_of("version = 1\nname = \"a\"\n[network]\n[train]\nstimuli = \"a\"\n"),
            @"fit.toml: `network` should be either `architecture` or `file`, found nothing"
        );
        insta::assert_snapshot!(
            with("validation = { share = 1.5 }\n"),
            @"fit.toml: `validation.share` should be between 0 and 1, found `1.5`"
        );
        insta::assert_snapshot!(
            with("epochs = 0\n"),
            @"fit.toml:5: `epochs` should be from 1 to 1000000, found `0`"
        );
        insta::assert_snapshot!(
            with("[optimiser]\nkind = \"sgd\"\nlearning_rate = -1\n"),
            @"fit.toml:7: `optimiser.learning_rate` should be above 0, found `-1`"
        );
        insta::assert_snapshot!(
            with("[augmentation]\nresized_crop = [0.9, 0.2]\n"),
            @"fit.toml:6: `augmentation.resized_crop` should be two ascending shares, e.g. [0.5, 1.0], found `[0.9, 0.2]`"
        );
        insta::assert_snapshot!(
            with("[schedule]\nkind = \"step\"\n"),
            @"fit.toml: `schedule.milestones` should be one or more epochs, found nothing"
        );
    }

    #[test]
    fn unknown_keys_and_kinds_are_refused() {
        let with = |more: &str| error_of(&format!("{HEAD}{more}"));
        assert!(with("epoch = 3\n").contains("unknown field `epoch`"));
        let text = with("[optimiser]\nkind = \"sgd\"\nlearning_rate = 1\nrate = 3\n");
        assert!(text.contains("unknown field `rate`"), "{text}");
        let text = with("[optimiser]\nkind = \"lion\"\n");
        assert!(text.contains("unknown variant `lion`"), "{text}");
        assert!(error_of("version = 9\n").contains("training version 9"));
    }
}

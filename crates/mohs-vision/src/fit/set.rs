//! Sets of pictures for training and validation: drawn from the built-in world or read from files,
//! fitted to the network once and kept in memory as far as it reaches.
//!
//! A picture that cannot be read is no example; it is listed with its reason and stops nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mohs_data::training::WorldEntry;
use mohs_data::{Label, Seed, Stimulus, StimulusId};
use rayon::prelude::*;

use super::chance::{Chance, Purpose, key_of};
use super::prepare::Prepare;
use crate::pixels::{self, PixelsError, Rgb8};
use crate::world::{self, Level, WorldPlan};

/// Pictures with their labels, in the order of their table.
#[derive(Clone, Debug, Default)]
pub struct Set {
    /// What can be used.
    pub examples: Vec<Example>,
    /// What cannot.
    pub failures: Vec<Failure>,
}

/// A picture with its label.
#[derive(Clone, Debug)]
pub struct Example {
    /// Which stimulus it is.
    pub id: StimulusId,
    /// What it shows.
    pub label: Label,
    /// What varies in it, e.g. `occlusion`.
    pub attribute: Option<String>,
    /// How strongly it varies, e.g. `hard`.
    pub level: Option<String>,
    source: Source,
}

/// A stimulus that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Which stimulus it is.
    pub id: StimulusId,
    /// What it shows.
    pub label: Label,
    /// Why it cannot be used.
    pub reason: String,
}

#[derive(Clone, Debug)]
enum Source {
    /// Fitted already: red, green, blue, row by row.
    Memory(Vec<u8>),
    /// Read whenever it is needed; with the hash of the fitted picture.
    File(PathBuf, blake3::Hash),
}

impl Example {
    /// Makes an example of a picture in memory.
    pub fn new(id: StimulusId, label: Label, pixels: &Rgb8, prepare: &Prepare) -> Example {
        let source = Source::Memory(prepare.fitted(pixels));
        Example { id, label, attribute: None, level: None, source }
    }

    /// Hands the fitted picture over: red, green, blue, row by row.
    pub(crate) fn with_bytes<T>(
        &self,
        prepare: &Prepare,
        work: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, PixelsError> {
        match &self.source {
            Source::Memory(bytes) => Ok(work(bytes)),
            Source::File(path, _) => Ok(work(&prepare.fitted(&pixels::read(path)?))),
        }
    }
}

impl Set {
    /// Reads stimuli whose files lie in `folder`. Pictures beyond `most_bytes` are not kept in memory
    /// but read again whenever they are needed. `tick` hears of every picture.
    pub fn read(
        stimuli: &[Stimulus],
        folder: &Path,
        prepare: &Prepare,
        most_bytes: usize,
        tick: &(dyn Fn() + Sync),
    ) -> Set {
        let n_kept = most_bytes / prepare.n_bytes().max(1);
        let loaded: Vec<Result<Example, Failure>> = stimuli
            .par_iter()
            .enumerate()
            .map(|(idx, stimulus)| {
                let path = folder.join(&stimulus.file);
                let source = pixels::read(&path).map(|pixels| {
                    let bytes = prepare.fitted(&pixels);
                    if idx < n_kept {
                        Source::Memory(bytes)
                    } else {
                        Source::File(path, blake3::hash(&bytes))
                    }
                });
                tick();
                let (id, label) = (stimulus.id.clone(), stimulus.label.clone());
                match source {
                    Ok(source) => Ok(Example {
                        id,
                        label,
                        attribute: stimulus.attribute.clone(),
                        level: stimulus.level.clone(),
                        source,
                    }),
                    Err(error) => Err(Failure { id, label, reason: error.to_string() }),
                }
            })
            .collect();
        let mut set = Set::default();
        for one in loaded {
            match one {
                Ok(example) => set.examples.push(example),
                Err(failure) => set.failures.push(failure),
            }
        }
        set
    }

    /// Draws pictures of the built-in world. Their ids begin with the seed, because worlds of
    /// different seeds number their pictures alike.
    pub fn draw(world: &WorldEntry, prepare: &Prepare, tick: &(dyn Fn() + Sync)) -> Set {
        let plan = WorldPlan::new(world.seed, world.size, world.n as usize);
        let draw = |recipe: &world::Recipe| {
            let picture = world::draw(recipe);
            tick();
            Example {
                id: StimulusId::new(format!("world{}-{}", world.seed, recipe.id)),
                label: Label::new(recipe.class.name()),
                attribute: recipe.attribute.map(|attribute| attribute.name().to_owned()),
                level: recipe.level.map(|level: Level| level.name().to_owned()),
                source: Source::Memory(prepare.fitted(&picture.pixels)),
            }
        };
        let examples = world::recipes(&plan).par_iter().map(draw).collect();
        Set { examples, failures: Vec::new() }
    }

    /// Takes this share out of the set, class by class, and returns it. Each class keeps one example
    /// at least. Which ones are taken depends on the seed and the ids alone.
    #[must_use]
    pub fn split_off(&mut self, share: f64, seed: Seed) -> Set {
        let mut by_label: BTreeMap<&Label, Vec<(u64, usize)>> = BTreeMap::new();
        for (idx, example) in self.examples.iter().enumerate() {
            let mut chance = Chance::new(seed, Purpose::Split, &[key_of(&example.id)]);
            let draw = chance.unit().to_bits();
            by_label.entry(&example.label).or_default().push((draw, idx));
        }
        let mut is_taken = vec![false; self.examples.len()];
        for drawn in by_label.values_mut() {
            drawn.sort_unstable();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "a share of a count"
            )]
            let n = (drawn.len() as f64 * share).round() as usize;
            for (_, idx) in drawn.iter().take(n.min(drawn.len() - 1)) {
                is_taken[*idx] = true;
            }
        }
        let mut taken = Set::default();
        let all = std::mem::take(&mut self.examples);
        for (example, is_taken) in all.into_iter().zip(is_taken) {
            let set = if is_taken { &mut taken } else { &mut *self };
            set.examples.push(example);
        }
        taken
    }

    /// The labels of the examples, sorted, each once.
    pub fn labels(&self) -> Vec<Label> {
        let mut labels: Vec<Label> = self.examples.iter().map(|one| one.label.clone()).collect();
        labels.sort_unstable();
        labels.dedup();
        labels
    }

    /// A hash of ids, labels and pixels, which tells sets apart.
    pub fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut add = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        for example in &self.examples {
            add(example.id.as_str().as_bytes());
            add(example.label.as_str().as_bytes());
            match &example.source {
                Source::Memory(bytes) => add(blake3::hash(bytes).as_bytes()),
                Source::File(_, hash) => add(hash.as_bytes()),
            }
        }
        for failure in &self.failures {
            add(failure.id.as_str().as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn prepare() -> Prepare {
        let (mean, sd) = Prepare::USUAL;
        Prepare { width: 16, height: 16, mean, sd }
    }

    /// Flat grey pictures of sixteen classes.
    fn greys(n: usize, seed: u64) -> Set {
        let grey = |idx: usize| {
            let pixels = Rgb8::new(1, 1, vec![u8::try_from(idx).unwrap(); 3]).unwrap();
            let label = Label::new(format!("class {}", idx % 16));
            Example::new(StimulusId::new(format!("{seed}-{idx}")), label, &pixels, &prepare())
        };
        Set { examples: (0..n).map(grey).collect(), failures: Vec::new() }
    }

    fn ids(set: &Set) -> Vec<String> {
        set.examples.iter().map(|example| example.id.to_string()).collect()
    }

    #[test]
    fn a_split_takes_the_same_share_of_every_class_and_loses_nothing() {
        let mut train = greys(64, 5);
        let mut before = ids(&train);
        let validation = train.split_off(0.25, Seed(3));
        assert_eq!((train.examples.len(), validation.examples.len()), (48, 16));
        assert_eq!(validation.labels().len(), 16);
        let mut after = [ids(&train), ids(&validation)].concat();
        before.sort();
        after.sort();
        assert_eq!(before, after);
    }

    #[test]
    fn a_split_depends_on_the_seed_and_leaves_every_class_something() {
        let split = |seed| ids(&greys(64, 5).split_off(0.25, Seed(seed)));
        assert_eq!(split(3), split(3));
        assert_ne!(split(3), split(4));
        let mut single = greys(16, 5);
        assert!(single.split_off(0.9, Seed(1)).examples.is_empty());
    }

    #[test]
    fn a_broken_picture_is_listed_and_stops_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let picture = Rgb8::new(2, 2, vec![9; 12]).unwrap();
        std::fs::write(folder.path().join("good.png"), picture.to_png()).unwrap();
        std::fs::write(folder.path().join("bad.png"), "no picture").unwrap();
        let stimulus = |name: &str| Stimulus {
            id: StimulusId::new(name),
            file: format!("{name}.png").into(),
            label: Label::new("mug"),
            dataset: None,
            boxes: Vec::new(),
            mask: None,
            attribute: None,
            level: None,
            extra: mohs_data::Extra::default(),
        };
        let stimuli = ["good", "bad", "absent"].map(stimulus);
        let n_ticks = AtomicUsize::new(0);
        let tick = || {
            n_ticks.fetch_add(1, Ordering::Relaxed);
        };
        let set = Set::read(&stimuli, folder.path(), &prepare(), usize::MAX, &tick);
        assert_eq!(ids(&set), ["good"]);
        let failed: Vec<&str> = set.failures.iter().map(|failure| failure.id.as_str()).collect();
        assert_eq!(failed, ["bad", "absent"]);
        assert_eq!(n_ticks.into_inner(), 3);
    }

    #[test]
    fn pictures_beyond_the_memory_are_read_again_and_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let picture = Rgb8::new(3, 2, (0..18).map(|n| n * 14).collect()).unwrap();
        std::fs::write(folder.path().join("a.png"), picture.to_png()).unwrap();
        let stimulus = Stimulus {
            id: StimulusId::new("a"),
            file: "a.png".into(),
            label: Label::new("mug"),
            dataset: None,
            boxes: Vec::new(),
            mask: None,
            attribute: None,
            level: None,
            extra: mohs_data::Extra::default(),
        };
        let bytes = |most_bytes| {
            let stimuli = [stimulus.clone()];
            let set = Set::read(&stimuli, folder.path(), &prepare(), most_bytes, &|| {});
            let bytes = set.examples[0].with_bytes(&prepare(), <[u8]>::to_vec).unwrap();
            (bytes, set.fingerprint())
        };
        assert_eq!(bytes(0), bytes(usize::MAX));
    }

    #[test]
    fn a_fingerprint_tells_sets_apart() {
        let print = |n, seed| greys(n, seed).fingerprint();
        assert_eq!(print(16, 5), print(16, 5));
        assert_ne!(print(16, 5), print(16, 6));
        assert_ne!(print(16, 5), print(17, 5));
    }

    #[test]
    fn a_drawn_world_has_ids_of_its_own_and_levels() {
        let set = Set::draw(&WorldEntry { seed: 5, n: 3, size: 32 }, &prepare(), &|| {});
        assert_eq!(set.examples[0].id.as_str(), "world5-bicycle-position-easy-0000");
        let levels: Vec<_> = set.examples.iter().filter_map(|one| one.level.as_deref()).collect();
        assert_eq!(levels, ["easy", "medium", "hard"]);
    }
}

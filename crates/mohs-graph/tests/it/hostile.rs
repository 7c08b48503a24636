//! Damaged files: thousands of small changes to real exports, each refused or understood.
//!
//! The fuzzer in `fuzz/` looks further; this runs with every test, from a fixed seed.

use std::path::Path;

use mohs_graph::scalar::{Reduction, Scalar};
use mohs_graph::{batch, derive, fold, normalise, read};

/// Networks with many operators and few weights, so that changes hit something that matters.
const NETWORKS: [&str; 4] =
    ["mobilenet_v2_ts11", "odd_layers_ts16", "odd_tokens_dynamo18", "mixer_dynamo18"];
const N_CHANGES: usize = 400;

/// A small generator of numbers that look random: xorshift by Marsaglia (2003).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(n.max(1)).expect("small")).expect("smaller than n")
    }
}

/// Everything that happens to a file on its way to a gradient; how far it came.
fn journey(bytes: Vec<u8>) -> usize {
    let Ok(file) = read::parse(bytes.into()) else { return 0 };
    let Ok(graph) = normalise::normalise(file) else { return 1 };
    let Ok(graph) = fold::simplify(graph) else { return 2 };
    let Ok(graph) = batch::free_batch(graph) else { return 3 };
    let inputs: Vec<String> = graph.inputs.iter().map(|port| port.name.clone()).collect();
    let Ok(derived) = derive::derive(&graph, &Scalar::CrossEntropy, Reduction::Sum, &inputs) else {
        return 4;
    };
    if fold::simplify(derived.graph).is_err() { 5 } else { 6 }
}

#[test]
fn a_damaged_file_never_brings_the_program_down() {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../mohs-vision/tests/fixtures/networks");
    let mut n_by_stage = [0; 7];
    for (idx, name) in (1..).zip(NETWORKS) {
        let whole = std::fs::read(folder.join(format!("{name}.onnx"))).unwrap();
        assert_eq!(journey(whole.clone()), 6, "{name} as it is");
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(idx));
        for _ in 0..N_CHANGES {
            let mut bytes = whole.clone();
            for _ in 0..=numbers.below(4) {
                let at = numbers.below(bytes.len());
                match numbers.below(12) {
                    0..5 => bytes[at] ^= 1 << numbers.below(8),
                    5..10 => bytes[at] = u8::try_from(numbers.below(256)).unwrap(),
                    10 => drop(bytes.drain(at..bytes.len().min(at + 1 + numbers.below(16)))),
                    _ => bytes.insert(at, u8::try_from(numbers.below(256)).unwrap()),
                }
            }
            n_by_stage[journey(bytes)] += 1;
        }
    }
    // Changes must have hit the format, the structure and mere numbers, or the test says nothing.
    assert!(n_by_stage[0] > 100 && n_by_stage[6] > 100, "{n_by_stage:?}");
    assert!(n_by_stage[1..6].iter().sum::<usize>() > 20, "{n_by_stage:?}");
}

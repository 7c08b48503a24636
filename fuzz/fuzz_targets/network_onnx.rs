//! Any bytes are a network or an error, never a panic; a network that was read can be brought into
//! the house dialect, folded, freed, differentiated and written, or each of these refuses.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mohs_graph::scalar::{Reduction, Scalar};
use mohs_graph::{batch, derive, fold, normalise, read, write};

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = read::parse(bytes.to_vec().into()) else { return };
    let again = write::to_bytes(&file).expect("because what came from few bytes fits into few");
    let again = read::parse(again.into()).expect("because what was written can be read");
    assert_eq!(file.nodes.len(), again.nodes.len());
    let Ok(graph) = normalise::normalise(file) else { return };
    let Ok(graph) = fold::simplify(graph) else { return };
    let Ok(graph) = batch::free_batch(graph) else { return };
    let inputs: Vec<String> = graph.inputs.iter().map(|port| port.name.clone()).collect();
    if let Ok(derived) = derive::derive(&graph, &Scalar::CrossEntropy, Reduction::Sum, &inputs) {
        drop(fold::simplify(derived.graph));
    }
});

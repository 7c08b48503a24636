//! The three networks that come with the program, trained on the built-in world with `mohs fit`.
//!
//! The files, the plans that made them and what they reach stand in `networks/` of this crate.
//! Nothing is trained or run here.

use mohs_data::Label;
use mohs_graph::{fold, read};

use crate::fit::Prepare;
use crate::input::InputSpec;
use crate::network::{Network, Note};

/// A network that comes with the program.
#[derive(Clone, Debug)]
pub struct DemoNetwork {
    /// Its name: `plain`, `residual` or `transformer`.
    pub name: &'static str,
    /// The ONNX file.
    pub bytes: &'static [u8],
    /// What it takes.
    pub spec: InputSpec,
    /// Its classes in the order of its outputs: those of the built-in world.
    pub classes: Vec<Label>,
    /// The network, ready to be opened.
    pub network: Network,
}

const FILES: [(&str, &[u8]); 3] = [
    ("plain", include_bytes!("../../networks/plain.onnx")),
    ("residual", include_bytes!("../../networks/residual.onnx")),
    ("transformer", include_bytes!("../../networks/transformer.onnx")),
];

/// Returns the networks that come with the program.
pub fn demo_networks() -> Vec<DemoNetwork> {
    FILES.into_iter().map(|(name, bytes)| demo_network(name, bytes)).collect()
}

fn demo_network(name: &'static str, bytes: &'static [u8]) -> DemoNetwork {
    const TESTED: &str = "because the tests read every file that comes with the program";
    let graph = read::parse(bytes::Bytes::from_static(bytes)).expect(TESTED);
    let note = Note::read(&graph.metadata).expect(TESTED);
    let network = Network::from_graph(fold::simplify(graph).expect(TESTED));
    let (width, height) = network.picture_size().ok().flatten().expect(TESTED);
    let prepare =
        Prepare { width: width as usize, height: height as usize, mean: note.mean, sd: note.sd };
    DemoNetwork {
        name,
        bytes,
        spec: prepare.spec(),
        classes: note.classes.iter().map(Label::new).collect(),
        network,
    }
}

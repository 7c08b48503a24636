//! Shapes with symbols, contents of lists, and contradictions that are found.

use super::*;
use crate::graph::Attribute;

/// A shape from `batch,3,8×batch`.
fn shape(text: &str) -> Vec<Dim> {
    let words = text.split(',').filter(|word| !word.is_empty());
    words
        .map(|word| {
            word.split('×').fold(Dim::known(1), |product, part| {
                let part = part.parse().map_or_else(|_| Dim::symbol(part), Dim::known);
                product.times(&part).unwrap()
            })
        })
        .collect()
}

fn ints(values: &[i64]) -> Attribute {
    Attribute::Ints(values.to_vec())
}

/// Facts of `a`, `b`, …: `[…]` after a colon are the contents of a list of whole numbers.
fn given(inputs: &[&str]) -> (Vec<String>, Facts) {
    let names: Vec<String> =
        (b'a'..).take(inputs.len()).map(|c| char::from(c).to_string()).collect();
    let mut facts = Facts::new();
    for (name, input) in names.iter().zip(inputs) {
        let fact = match input.strip_prefix(':') {
            Some(list) => {
                let value = shape(list);
                Fact::new(ElementType::I64, vec![Dim::from_size(value.len())])
                    .with_value(Some(value))
            }
            None => Fact::new(ElementType::F32, shape(input)),
        };
        facts.insert(name.clone(), fact);
    }
    (names, facts)
}

fn infer(
    op: &str,
    inputs: &[&str],
    settings: &[(&str, Attribute)],
) -> Result<Vec<Fact>, InferError> {
    let (names, facts) = given(inputs);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut node = Node::new(op, &names, &["y"]);
    for (name, value) in settings {
        node = node.with(name, value.clone());
    }
    node_facts(&node, &facts)
}

fn check(op: &str, inputs: &[&str], settings: &[(&str, Attribute)], expected: &str) {
    let found = infer(op, inputs, settings).unwrap();
    let found = found[0].shape.as_ref().map(|shape| dim::describe(shape));
    assert_eq!(found.as_deref(), Some(expected), "{op} of {inputs:?}");
}

fn check_value(op: &str, inputs: &[&str], settings: &[(&str, Attribute)], expected: &str) {
    let found = infer(op, inputs, settings).unwrap();
    let found = found[0].value.as_ref().map(|value| dim::describe(value));
    assert_eq!(found.as_deref(), Some(expected), "{op} of {inputs:?}");
}

fn check_refused(op: &str, inputs: &[&str], settings: &[(&str, Attribute)], expected: &str) {
    let error = infer(op, inputs, settings).unwrap_err().to_string();
    assert_eq!(error, format!("node `y` ({op}): {expected}"));
}

#[test]
fn windows_of_pictures_fold_into_the_batch_and_unfold() {
    check("Reshape", &["batch,8,7,8,7,96", ":-1,49,96"], &[], "[64×batch, 49, 96]");
    check("Reshape", &["64×batch,49,96", ":-1,64,49,96"], &[], "[batch, 64, 49, 96]");
    check("Reshape", &["batch,64,49,96", ":0,-1,96"], &[], "[batch, 3136, 96]");
    check("Reshape", &["batch,64,49,96", ":batch,3136,96"], &[], "[batch, 3136, 96]");
    check("Reshape", &["0,4", ":0,2"], &[("allowzero", Attribute::Int(1))], "[0, 2]");
}

#[test]
fn a_reshape_that_loses_elements_is_refused() {
    check_refused(
        "Reshape",
        &["2,3", ":4,2"],
        &[],
        "a value of shape [2, 3] cannot take the shape [4, 2]",
    );
    check_refused(
        "Reshape",
        &["2,3", ":4,-1"],
        &[],
        "a value of shape [2, 3] cannot take the shape [4, -1]",
    );
    check_refused(
        "Reshape",
        &["2,3", ":-1,-1"],
        &[],
        "the shape [-1, -1] should leave at most one dimension open",
    );
}

#[test]
fn a_convolution_knows_its_size() {
    let settings = [("strides", ints(&[2, 2])), ("pads", ints(&[3, 3, 3, 3]))];
    check("Conv", &["batch,3,224,224", "64,3,7,7", "64"], &settings, "[batch, 64, 112, 112]");
    // A dimension that a window keeps may stay open.
    let same = [("pads", ints(&[1, 1, 1, 1])), ("group", Attribute::Int(8))];
    check("Conv", &["batch,8,height,width", "8,1,3,3"], &same, "[batch, 8, height, width]");
    check("Conv", &["batch,8,height,9", "8,8,3,3"], &[], "[batch, 8, ?y.2, 7]");
}

#[test]
fn a_convolution_that_does_not_fit_is_refused() {
    check_refused(
        "Conv",
        &["batch,4,9,9", "8,3,3,3"],
        &[],
        "the number of channels should be 3, found 4",
    );
    check_refused(
        "Conv",
        &["batch,3,9", "8,3,3,3"],
        &[],
        "the input should have 4 dimensions (batch, channels, picture), found [batch, 3, 9]",
    );
    check_refused(
        "Conv",
        &["1,3,2,9", "8,3,3,3"],
        &[],
        "a window of 3 should fit into dimension 2 of size 2 with pads 0 and 0",
    );
}

#[test]
fn hostile_windows_are_refused_and_do_not_overflow() {
    for settings in [
        [("strides", ints(&[0, 1]))],
        [("strides", ints(&[-1, 1]))],
        [("dilations", ints(&[i64::MAX, 1]))],
        [("pads", ints(&[i64::MAX, i64::MAX, i64::MAX, i64::MAX]))],
        [("pads", ints(&[1]))],
        [("group", Attribute::Int(0))],
    ] {
        for op in ["Conv", "ConvTranspose"] {
            let found = infer(op, &["1,3,9,9", "3,3,3,3"], &settings);
            assert!(found.is_err(), "{op} {settings:?} gave {found:?}");
        }
    }
    assert!(infer("MaxPool", &["1,3,9,9"], &[("kernel_shape", ints(&[0, 3]))]).is_err());
    assert!(infer("MaxPool", &[""], &[("kernel_shape", ints(&[3, 3]))]).is_err());
    assert!(infer("MaxPool", &["1,3,9,9"], &[]).is_err());
}

#[test]
fn a_ceil_mode_pool_leaves_out_a_window_that_starts_in_the_padding() {
    let settings = |pads: &[i64]| {
        [
            ("kernel_shape", ints(&[2, 2])),
            ("strides", ints(&[2, 2])),
            ("ceil_mode", Attribute::Int(1)),
            ("pads", ints(pads)),
        ]
    };
    check("MaxPool", &["1,3,5,4"], &settings(&[0, 0, 0, 0]), "[1, 3, 3, 2]");
    check("MaxPool", &["1,3,5,5"], &settings(&[1, 1, 1, 1]), "[1, 3, 3, 3]");
}

#[test]
fn a_transposed_convolution_undoes_the_size_of_a_convolution() {
    let settings = [
        ("strides", ints(&[2, 2])),
        ("pads", ints(&[1, 1, 1, 1])),
        ("output_padding", ints(&[1, 1])),
    ];
    check("ConvTranspose", &["batch,8,5,width", "8,4,3,3"], &settings, "[batch, 4, 10, 2×width]");
    let settings = [("output_shape", ints(&[11, 12])), ("group", Attribute::Int(2))];
    check("ConvTranspose", &["1,8,5,5", "8,4,3,3"], &settings, "[1, 8, 11, 12]");
}

#[test]
fn shapes_stretch_to_each_other() {
    check("Add", &["batch,1,4", "3,1"], &[], "[batch, 3, 4]");
    check("Add", &["batch,4", "batch,4"], &[], "[batch, 4]");
    check("Add", &["batch,4", "7,4"], &[], "[7, 4]");
    check("Where", &["batch,1", "1,5", ""], &[], "[batch, 5]");
    check_refused("Add", &["2,3", "2,4"], &[], "shapes [2, 3] and [2, 4] do not fit each other");
}

#[test]
fn products_of_matrices_fit_or_are_refused() {
    check("MatMul", &["batch,8,49,32", "batch,8,32,49"], &[], "[batch, 8, 49, 49]");
    check("MatMul", &["batch,49,32", "32,96"], &[], "[batch, 49, 96]");
    check("MatMul", &["32", "batch,32,96"], &[], "[batch, 96]");
    check("Gemm", &["batch,32", "10,32", "10"], &[("transB", Attribute::Int(1))], "[batch, 10]");
    check_refused(
        "MatMul",
        &["2,3", "4,5"],
        &[],
        "matrices [2, 3] and [4, 5] do not fit each other",
    );
    check_refused("Gemm", &["batch,3", "4,5"], &[], "the number of features should be 4, found 3");
    let equation = |text: &str| [("equation", Attribute::Text(text.to_owned()))];
    check("Einsum", &["batch,4,8", "batch,5,8"], &equation("bij,bkj->bik"), "[batch, 4, 5]");
    check("Einsum", &["batch,7,4,8", "8,3"], &equation("...ij, jk"), "[batch, 7, 4, 3]");
}

#[test]
fn arithmetic_on_shapes_is_followed() {
    check_value("Shape", &["batch,3,8,8"], &[], "[batch, 3, 8, 8]");
    let part = [("start", Attribute::Int(-2)), ("end", Attribute::Int(4))];
    check_value("Shape", &["batch,3,8,9"], &part, "[8, 9]");
    check_value("Mul", &[":batch", ":64"], &[], "[64×batch]");
    check_value("Div", &[":64×batch", ":64"], &[], "[batch]");
    check_value("Div", &[":7", ":2"], &[], "[3]");
    check_value("Add", &[":batch,3", ":batch,4"], &[], "[2×batch, 7]");
    check_value("Sub", &[":batch,3", ":1,4"], &[], "[?y#0, -1]");
    check_value("Mod", &[":-7,7", ":3,-3"], &[], "[2, -2]");
    check_value("Concat", &[":batch", ":64,-1"], &[("axis", Attribute::Int(0))], "[batch, 64, -1]");
    check_value("Gather", &[":batch,3,8", ":-1,0"], &[], "[8, batch]");
    check_value(
        "Slice",
        &[":batch,3,8,9", ":-1", ":-9223372036854775807", ":0", ":-2"],
        &[],
        "[9, 3]",
    );
    check_value("ReduceProd", &[":batch,3,8"], &[("keepdims", Attribute::Int(0))], "[24×batch]");
    check_value("Range", &[":5", ":0", ":-2"], &[], "[5, 3, 1]");
    check_value("Size", &["batch,3"], &[], "[3×batch]");
    // A size is at least 1, so it is no marker.
    check_value("Equal", &[":batch,-1", ":-1,-1"], &[], "[0, 1]");
}

#[test]
fn a_range_that_goes_nowhere_is_empty_and_one_without_a_step_is_refused() {
    check("Range", &[":5", ":0", ":1"], &[], "[0]");
    check("Range", &[":0", ":batch", ":1"], &[], "[batch]");
    check_refused("Range", &[":0", ":5", ":0"], &[], "the step should not be 0");
    check("Range", &[":0", ":9223372036854775807", ":1"], &[], "[9223372036854775807]");
}

#[test]
fn cuts_of_open_dimensions_are_known_where_they_can_be() {
    let far = ":9223372036854775807";
    check("Slice", &["batch,8", ":0", far, ":0"], &[], "[batch, 8]");
    check("Slice", &["batch,8", ":-1", far, ":0"], &[], "[1, 8]");
    check("Slice", &["batch,8", ":1", far, ":1"], &[], "[batch, 7]");
    check("Slice", &["batch,8", ":1", far, ":0"], &[], "[?y.0, 8]");
    check("Slice", &["batch,8", ":7", ":-9", ":1", ":-1"], &[], "[batch, 8]");
    check_refused("Slice", &["batch,8", ":0", ":1", ":0", ":0"], &[], "a step should not be 0");
}

#[test]
fn resizing_takes_sizes_or_scales() {
    let (_, mut facts) = given(&["batch,3,8,height", "", ""]);
    facts.insert(
        "b".to_owned(),
        Fact::of_tensor(&Tensor::f32(vec![4], vec![1.0, 1.0, 2.5, 2.0]).unwrap()),
    );
    let found = node_facts(&Node::new("Resize", &["a", "", "b"], &["y"]), &facts).unwrap();
    let found = dim::describe(found[0].shape.as_ref().unwrap());
    assert_eq!(found, "[batch, 3, 20, 2×height]");
    facts.insert("c".to_owned(), Fact::of_tensor(&Tensor::list(vec![1, 3, 7, 9])));
    let found = node_facts(&Node::new("Resize", &["a", "", "", "c"], &["y"]), &facts).unwrap();
    assert_eq!(dim::describe(found[0].shape.as_ref().unwrap()), "[1, 3, 7, 9]");
}

#[test]
fn dimensions_come_and_go() {
    check(
        "ReduceMean",
        &["batch,3,8,8", ":2,-1"],
        &[("keepdims", Attribute::Int(0))],
        "[batch, 3]",
    );
    check("ReduceMean", &["batch,3"], &[], "[1, 1]");
    check(
        "ArgMax",
        &["batch,3,8"],
        &[("axis", Attribute::Int(1)), ("keepdims", Attribute::Int(0))],
        "[batch, 8]",
    );
    check("Squeeze", &["batch,1,8,1"], &[], "[batch, 8]");
    check("Unsqueeze", &["batch,8", ":0,-1"], &[], "[1, batch, 8, 1]");
    check("Flatten", &["batch,3,8"], &[], "[batch, 24]");
    check("Transpose", &["batch,3,8"], &[("perm", ints(&[2, 0, 1]))], "[8, batch, 3]");
    check("Expand", &["1,1,768", ":batch,1,1"], &[], "[batch, 1, 768]");
    check("Tile", &["batch,2", ":1,3"], &[], "[batch, 6]");
    check("Pad", &["batch,4", ":0,1,0,2"], &[], "[batch, 7]");
    check("Concat", &["batch,1,8", "batch,49,8"], &[("axis", Attribute::Int(1))], "[batch, 50, 8]");
    check(
        "DepthToSpace",
        &["batch,12,4,4"],
        &[("blocksize", Attribute::Int(2))],
        "[batch, 3, 8, 8]",
    );
    check("OneHot", &["batch", ":10", "2"], &[], "[batch, 10]");
    check("ConstantOfShape", &[":batch,10"], &[], "[batch, 10]");
    for op in ["RandomNormalLike", "RandomUniformLike", "Bernoulli", "EyeLike"] {
        check(op, &["batch,8"], &[], "[batch, 8]");
    }
    check("RandomNormal", &[], &[("shape", ints(&[1, 3, 8]))], "[1, 3, 8]");
    check("Multinomial", &["batch,8"], &[("sample_size", Attribute::Int(2))], "[batch, 2]");
    check_refused(
        "RandomUniform",
        &[],
        &[("shape", ints(&[2, -1]))],
        "a size should be 0 or more, found -1",
    );
    check_refused("Squeeze", &["2,1", ":0"], &[], "dimension 0 should be 1, found 2");
    check_refused("Transpose", &["2,1"], &[("perm", ints(&[0, 0]))], "axis 0 is named twice");
}

#[test]
fn an_operator_that_nobody_knows_makes_a_value_of_unknown_shape() {
    let found = infer("Grid", &["batch,8"], &[]).unwrap();
    assert_eq!(found, [Fact::of_type(ElementType::F32)]);
}

#[test]
fn a_split_adds_up() {
    let (_, facts) = given(&["batch,7", ":3,4", ":3,3"]);
    let parts = |node: Node| {
        let found = node_facts(&node.with("axis", Attribute::Int(1)), &facts)?;
        Ok(found.iter().map(|fact| dim::describe(fact.shape.as_ref().unwrap())).collect())
    };
    let found: Result<Vec<String>, InferError> =
        parts(Node::new("Split", &["a", "b"], &["x", "y"]));
    assert_eq!(found.unwrap(), ["[batch, 3]", "[batch, 4]"]);
    let found = parts(Node::new("Split", &["a"], &["x", "y"]));
    assert_eq!(found.unwrap(), ["[batch, 4]", "[batch, 3]"]);
    assert!(parts(Node::new("Split", &["a", "c"], &["x", "y"])).is_err());
}

#[test]
fn a_value_that_nothing_makes_is_named() {
    let error = node_facts(&Node::new("Relu", &["nowhere"], &["y"]), &Facts::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "node `y` (Relu) uses the value `nowhere`, which nothing before it makes"
    );
}

#[test]
fn what_the_file_says_fills_the_gaps() {
    let port = |name: &str, text: Option<&str>| Port {
        name: name.to_owned(),
        element_type: ElementType::F32,
        shape: text.map(shape),
    };
    let graph = Graph {
        inputs: vec![port("x", Some("batch,8"))],
        outputs: vec![port("z", Some("batch,3"))],
        nodes: vec![Node::new("Grid", &["x"], &["y"]), Node::new("Grid", &["y"], &["z"])],
        notes: BTreeMap::from([("y".to_owned(), port("y", Some("batch,5")))]),
        ..Graph::default()
    };
    let facts = facts(&graph).unwrap();
    assert_eq!(facts["y"].shape, Some(shape("batch,5")));
    assert_eq!(facts["z"].shape, Some(shape("batch,3")));
}

/// Every operator, on inputs and settings that no exporter would write, answers without a panic.
mod hostile {
    use proptest::prelude::*;

    use super::*;

    const OPS: &[&str] = &[
        "Add",
        "Sub",
        "Mul",
        "Div",
        "Mod",
        "Pow",
        "Min",
        "Where",
        "Cast",
        "Reshape",
        "Flatten",
        "Transpose",
        "Squeeze",
        "Unsqueeze",
        "Expand",
        "Concat",
        "Split",
        "Slice",
        "Tile",
        "Pad",
        "DepthToSpace",
        "SpaceToDepth",
        "Shape",
        "Size",
        "Gather",
        "GatherElements",
        "GatherND",
        "ScatterElements",
        "ConstantOfShape",
        "Range",
        "OneHot",
        "Conv",
        "ConvTranspose",
        "MaxPool",
        "AveragePool",
        "GlobalAveragePool",
        "Resize",
        "BatchNormalization",
        "LayerNormalization",
        "InstanceNormalization",
        "MatMul",
        "Gemm",
        "Einsum",
        "ReduceSum",
        "ReduceProd",
        "ArgMax",
        "TopK",
        "Neg",
        "Equal",
        "Identity",
        "NonZero",
        "EyeLike",
        "RandomNormal",
        "RandomUniformLike",
        "Multinomial",
        "CumSum",
        "Dropout",
        "Constant",
    ];

    fn number() -> impl Strategy<Value = i64> {
        prop_oneof![-3_i64..5, Just(i64::MAX), Just(i64::MIN), Just(i64::MAX - 1), Just(1 << 40),]
    }

    fn dim() -> impl Strategy<Value = Dim> {
        prop_oneof![
            3 => (0_i64..5).prop_map(Dim::known),
            1 => prop_oneof![Just(i64::MAX), Just(1 << 40)].prop_map(Dim::known),
            1 => Just(Dim::symbol("batch")),
            1 => Just(Dim::symbol("?x.0")),
        ]
    }

    fn fact() -> impl Strategy<Value = Fact> {
        prop_oneof![
            prop::collection::vec(dim(), 0..5).prop_map(|dims| Fact::new(ElementType::F32, dims)),
            Just(Fact::of_type(ElementType::F32)),
            prop::collection::vec(prop_oneof![number().prop_map(Dim::known), dim()], 0..5)
                .prop_map(|value| {
                    let len = Dim::from_size(value.len());
                    Fact::new(ElementType::I64, vec![len]).with_value(Some(value))
                }),
            number().prop_map(
                |n| Fact::new(ElementType::I64, vec![]).with_value(Some(vec![Dim::known(n)]))
            ),
        ]
    }

    fn setting() -> impl Strategy<Value = Attribute> {
        prop_oneof![
            number().prop_map(Attribute::Int),
            prop::collection::vec(number(), 0..5).prop_map(Attribute::Ints),
            "[a-c.,>-]{0,8}".prop_map(Attribute::Text),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn nothing_in_a_file_makes_inference_panic(
            op in prop::sample::select(OPS),
            inputs in prop::collection::vec(fact(), 0..5),
            n_outputs in 0_usize..4,
            settings in prop::collection::btree_map(
                prop::sample::select(&[
                    "axis", "axes", "perm", "to", "kernel_shape", "strides", "pads", "dilations",
                    "group", "blocksize", "equation", "start", "end", "split", "output_shape",
                    "output_padding", "batch_dims", "auto_pad", "keepdims", "ceil_mode",
                    "num_outputs", "allowzero", "dtype", "shape", "sample_size",
                ][..]),
                setting(),
                0..5,
            ),
        ) {
            let names: Vec<String> = (0..inputs.len()).map(|idx| format!("x{idx}")).collect();
            let outputs: Vec<String> = (0..n_outputs).map(|idx| format!("y{idx}")).collect();
            let node = Node {
                name: String::new(),
                op: op.to_owned(),
                domain: String::new(),
                inputs: names.clone(),
                outputs,
                attributes: settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            };
            let facts: Facts = names.into_iter().zip(inputs).collect();
            if let Ok(found) = node_facts(&node, &facts) {
                prop_assert_eq!(found.len(), n_outputs);
            }
        }
    }
}

#[test]
fn operators_that_nobody_follows_still_have_types() {
    let made = |op, inputs: &[&str]| infer(op, inputs, &[]).unwrap()[0].element_type;
    assert_eq!(made("NonMaxSuppression", &["1,8,4", "1,2,8"]), ElementType::I64);
    assert_eq!(made("ConvInteger", &["1,3,8,8", "4,3,1,1"]), ElementType::I32);
    assert_eq!(made("QuantizeLinear", &["1,3", ""]), ElementType::U8);
    assert_eq!(made("DequantizeLinear", &[":1,2", ""]), ElementType::F32);
    assert_eq!(made("SequenceAt", &["1,3", ":0"]), ElementType::UNKNOWN);
    assert_eq!(made("Det", &["1,3,3"]), ElementType::F32);
    // An exponent says nothing about what it is put to.
    let node = Node::new("Pow", &["x", "n"], &["y"]);
    let types = [("x", ElementType::UNKNOWN), ("n", ElementType::I64)];
    let facts: Facts = types.map(|(name, of)| (name.to_owned(), Fact::of_type(of))).into();
    assert_eq!(node_facts(&node, &facts).unwrap()[0].element_type, ElementType::UNKNOWN);
}

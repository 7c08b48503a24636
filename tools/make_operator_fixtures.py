#!/usr/bin/env python3
"""Makes the small ONNX files that the reference evaluator of mohs-graph is checked against.

    python3 -m venv venv && venv/bin/pip install -r tools/requirements-networks.txt
    venv/bin/python tools/make_operator_fixtures.py crates/mohs-graph/tests/fixtures/operators

Every file is a network without inputs: constants, one node per case, and for each output the value
that onnxruntime (or, where it refuses, the evaluator of the `onnx` package) gives, stored as an
initializer named `expected:<output>`. Where both answer they have to agree; disagreements are
printed, and the case is left out unless `TRUSTED` says why onnxruntime is right.
"""

import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

TOLERANCE = 1e-5
# Cases in which the two disagree and the operator's documentation supports onnxruntime. The
# evaluator of `onnx` places aligned corners by the size before it is rounded, reads the only pixel
# of a result at -0.5 rather than 0, walks over samples where LRN means channels, takes no magnitudes
# for p = 1, and rounds the size of a MaxPool down for SAME_LOWER.
TRUSTED = [
    "align_corners",
    "cubic pytorch_half_pixel to [1, 2, 1, 1]",
    "size 1",
    "size 3",
    "size 5",
    "p 1",
    "SAME_LOWER",
]

rng = np.random.default_rng(7)
families = {}


def floats(*shape):
    """Numbers with few digits, so that they are the same in every precision."""
    return (rng.integers(-400, 400, shape) / 128).astype(np.float32)


def ints(values):
    return np.array(values, dtype=np.int64)


def case(family, op, inputs, n_outputs=1, opset=21, label="", **attributes):
    families.setdefault(family, []).append((op, inputs, n_outputs, opset, label, attributes))


def single(op, inputs, n_outputs, opset, attributes):
    names = ["" if value is None else f"i{idx}" for idx, value in enumerate(inputs)]
    outputs = [f"o{idx}" for idx in range(n_outputs)]
    node = helper.make_node(op, names, outputs, **attributes)
    constants = [numpy_helper.from_array(value, name) for name, value in zip(names, inputs) if name]
    infos = [helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = helper.make_graph([node], "case", [], infos, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return onnx.shape_inference.infer_shapes(model), outputs


def answers(op, inputs, n_outputs, opset, attributes):
    """What onnxruntime and the reference say, or why they do not."""
    model, outputs = single(op, inputs, n_outputs, opset, attributes)
    found, refusals = {}, {}
    try:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        found["onnxruntime"] = session.run(outputs, {})
    except Exception as error:
        refusals["onnxruntime"] = str(error).splitlines()[0][:160]
    try:
        found["reference"] = ReferenceEvaluator(model).run(outputs, {})
    except Exception as error:
        refusals["reference"] = str(error).splitlines()[0][:160] if str(error) else repr(error)
    return found, refusals


def agree(left, right):
    for a, b in zip(left, right):
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape:
            return False
        if not np.allclose(
            a.astype(np.float64),
            b.astype(np.float64),
            rtol=TOLERANCE,
            atol=TOLERANCE,
            equal_nan=True,
        ):
            return False
    return True


def write(folder):
    for family, cases in families.items():
        nodes, constants, infos = [], [], []
        for idx, (op, inputs, n_outputs, opset, label, attributes) in enumerate(cases):
            what = f"{op} {label or attributes}"
            found, refusals = answers(op, inputs, n_outputs, opset, attributes)
            if not found:
                print(f"{family}: left out: {what}: {refusals}")
                continue
            if len(found) == 2 and not agree(found["onnxruntime"], found["reference"]):
                is_trusted = any(part in label for part in TRUSTED)
                print(f"{family}: they disagree: {what}{'' if is_trusted else ', left out'}")
                if not is_trusted:
                    continue
            expected = found.get("onnxruntime") or found["reference"]
            names = []
            for place, value in enumerate(inputs):
                name = "" if value is None else f"c{idx}:i{place}"
                names.append(name)
                if name:
                    constants.append(numpy_helper.from_array(value, name))
            outputs = [f"c{idx}:o{place}" for place in range(n_outputs)]
            node_name = f"{op} {label}".strip()
            nodes.append(helper.make_node(op, names, outputs, name=node_name, **attributes))
            for name, value in zip(outputs, expected):
                value = np.asarray(value)
                infos.append(
                    helper.make_tensor_value_info(
                        name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape
                    )
                )
                constants.append(numpy_helper.from_array(value, f"expected:{name}"))
        opset = max(opset for _, _, _, opset, _, _ in cases)
        graph = helper.make_graph(nodes, family, [], infos, constants)
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10
        )
        onnx.save(model, folder / f"{family}.onnx")
        print(f"{family}: {len(nodes)} nodes, {(folder / f'{family}.onnx').stat().st_size} bytes")


def convolutions():
    x, line = floats(2, 4, 6, 5), floats(2, 4, 9)
    case(
        "conv", "Conv", [x, floats(6, 4, 3, 3), floats(6)], pads=[1, 0, 2, 1], label="pads and bias"
    )
    case(
        "conv", "Conv", [x, floats(6, 2, 3, 2)], group=2, strides=[2, 1], label="groups and strides"
    )
    case(
        "conv",
        "Conv",
        [x, floats(4, 1, 3, 3)],
        group=4,
        dilations=[2, 1],
        pads=[2, 1, 2, 1],
        label="depthwise, dilated",
    )
    case(
        "conv",
        "Conv",
        [line, floats(6, 2, 3), floats(6)],
        group=2,
        strides=[2],
        dilations=[2],
        pads=[1, 2],
        label="of lists",
    )
    for auto in ["SAME_UPPER", "SAME_LOWER", "VALID"]:
        case("conv", "Conv", [x, floats(3, 4, 2, 4)], auto_pad=auto, strides=[2, 2], label=auto)
    x, line = floats(2, 4, 4, 3), floats(1, 4, 5)
    w = floats(4, 3, 3, 3)
    case(
        "conv_transpose",
        "ConvTranspose",
        [x, w, floats(3)],
        pads=[1, 0, 2, 1],
        label="pads and bias",
    )
    case(
        "conv_transpose",
        "ConvTranspose",
        [x, floats(4, 3, 3, 2)],
        group=2,
        strides=[2, 3],
        output_padding=[1, 2],
        label="groups and output padding",
    )
    case(
        "conv_transpose",
        "ConvTranspose",
        [x, floats(4, 1, 3, 3)],
        group=4,
        dilations=[2, 1],
        strides=[1, 2],
        label="depthwise, dilated",
    )
    case(
        "conv_transpose",
        "ConvTranspose",
        [x, w],
        strides=[2, 2],
        output_shape=[8, 6],
        label="given size",
    )
    case(
        "conv_transpose",
        "ConvTranspose",
        [x, w],
        strides=[2, 2],
        output_shape=[8, 6],
        auto_pad="SAME_UPPER",
        label="given size, upper",
    )
    case(
        "conv_transpose",
        "ConvTranspose",
        [x, w],
        strides=[2, 2],
        auto_pad="SAME_UPPER",
        label="SAME_UPPER",
    )
    case(
        "conv_transpose",
        "ConvTranspose",
        [x, w],
        strides=[2, 2],
        auto_pad="SAME_LOWER",
        label="SAME_LOWER",
    )
    case(
        "conv_transpose",
        "ConvTranspose",
        [line, floats(4, 2, 3), floats(4)],
        group=2,
        strides=[2],
        pads=[1, 0],
        output_padding=[1],
        label="of lists",
    )


def pools():
    x, line = floats(2, 3, 7, 6), floats(2, 3, 9)
    for ceil in [0, 1]:
        case(
            "pool",
            "MaxPool",
            [x],
            2,
            kernel_shape=[3, 2],
            strides=[2, 2],
            ceil_mode=ceil,
            label=f"ceil {ceil}",
        )
        case(
            "pool",
            "MaxPool",
            [x],
            2,
            kernel_shape=[3, 3],
            strides=[2, 3],
            pads=[1, 1, 0, 1],
            ceil_mode=ceil,
            label=f"pads, ceil {ceil}",
        )
        case(
            "pool",
            "MaxPool",
            [line],
            2,
            kernel_shape=[3],
            strides=[2],
            dilations=[2],
            pads=[1, 1],
            ceil_mode=ceil,
            label=f"of lists, ceil {ceil}",
        )
        for counts in [0, 1]:
            settings = dict(ceil_mode=ceil, count_include_pad=counts)
            case(
                "pool",
                "AveragePool",
                [x],
                kernel_shape=[3, 2],
                strides=[2, 2],
                label=f"ceil {ceil}, counts {counts}",
                **settings,
            )
            case(
                "pool",
                "AveragePool",
                [x],
                kernel_shape=[3, 3],
                strides=[2, 3],
                pads=[1, 1, 0, 1],
                label=f"pads, ceil {ceil}, counts {counts}",
                **settings,
            )
            case(
                "pool",
                "AveragePool",
                [x],
                kernel_shape=[2, 2],
                strides=[3, 3],
                pads=[1, 0, 0, 1],
                label=f"wide steps, ceil {ceil}, counts {counts}",
                **settings,
            )
            case(
                "pool",
                "AveragePool",
                [line],
                kernel_shape=[3],
                strides=[2],
                dilations=[2],
                pads=[1, 1],
                label=f"of lists, ceil {ceil}, counts {counts}",
                **settings,
            )
    case(
        "pool",
        "MaxPool",
        [x],
        2,
        kernel_shape=[2, 2],
        dilations=[2, 3],
        storage_order=1,
        label="by columns",
    )
    for auto in ["SAME_UPPER", "SAME_LOWER", "VALID"]:
        case("pool", "MaxPool", [x], kernel_shape=[3, 2], strides=[2, 2], auto_pad=auto, label=auto)
        case(
            "pool",
            "AveragePool",
            [x],
            kernel_shape=[3, 2],
            strides=[2, 2],
            auto_pad=auto,
            label=auto,
        )
    case("pool", "GlobalAveragePool", [x])
    case("pool", "GlobalMaxPool", [x])


def resizes():
    x = floats(1, 2, 4, 5)
    up, down = np.array([1, 1, 2.5, 1.75], np.float32), np.array([1, 1, 0.625, 0.75], np.float32)
    for coordinates in [
        "half_pixel",
        "align_corners",
        "asymmetric",
        "pytorch_half_pixel",
        "half_pixel_symmetric",
    ]:
        for scales in [up, down]:
            which = "up" if scales is up else "down"
            for nearest in ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]:
                case(
                    "resize",
                    "Resize",
                    [x, None, scales],
                    mode="nearest",
                    nearest_mode=nearest,
                    coordinate_transformation_mode=coordinates,
                    label=f"nearest {nearest} {coordinates} {which}",
                )
            for mode in ["linear", "cubic"]:
                case(
                    "resize",
                    "Resize",
                    [x, None, scales],
                    mode=mode,
                    coordinate_transformation_mode=coordinates,
                    label=f"{mode} {coordinates} {which}",
                )
    for mode in ["nearest", "linear", "cubic"]:
        for sizes in [[1, 2, 7, 3], [1, 2, 1, 1], [1, 2, 8, 10]]:
            for coordinates in ["half_pixel", "pytorch_half_pixel", "align_corners"]:
                case(
                    "resize",
                    "Resize",
                    [x, None, None, ints(sizes)],
                    mode=mode,
                    coordinate_transformation_mode=coordinates,
                    label=f"{mode} {coordinates} to {sizes}",
                )
    case("resize", "Resize", [x, None, up], mode="cubic", cubic_coeff_a=-0.5, label="cubic a")
    case("resize", "Resize", [x, None, up], mode="cubic", exclude_outside=1, label="cubic outside")
    for mode in ["linear", "cubic"]:
        case(
            "resize",
            "Resize",
            [floats(1, 1, 7, 8), None, down],
            mode=mode,
            antialias=1,
            label=f"{mode} antialias",
        )
        case(
            "resize",
            "Resize",
            [floats(1, 1, 7, 8), None, None, ints([1, 1, 3, 4])],
            mode=mode,
            antialias=1,
            label=f"{mode} antialias to sizes",
        )
        case(
            "resize",
            "Resize",
            [floats(1, 1, 7, 8), None, None, ints([1, 1, 3, 4])],
            mode=mode,
            antialias=1,
            exclude_outside=1,
            label=f"{mode} antialias outside",
        )
        case(
            "resize",
            "Resize",
            [floats(1, 1, 7, 8), None, None, ints([1, 1, 9, 10])],
            mode=mode,
            antialias=1,
            label=f"{mode} antialias up",
        )
    case(
        "resize", "Resize", [x, None, None, ints([6, 7])], mode="linear", axes=[2, 3], label="axes"
    )
    case(
        "resize",
        "Resize",
        [x, None, None, ints([7, 6])],
        mode="nearest",
        axes=[3, 2],
        label="axes turned",
    )
    for policy in ["not_larger", "not_smaller"]:
        case(
            "resize",
            "Resize",
            [x, None, None, ints([7, 8])],
            mode="nearest",
            axes=[2, 3],
            keep_aspect_ratio_policy=policy,
            label=policy,
        )


def norms():
    x = floats(2, 4, 3, 2)
    for axis in [-1, 1, 2, 3]:
        shape = x.shape[axis:]
        case(
            "norm",
            "LayerNormalization",
            [x, floats(*shape), floats(*shape)],
            3,
            axis=axis,
            label=f"axis {axis}",
        )
    case("norm", "LayerNormalization", [x, floats(2)], 1, epsilon=0.25, label="no bias")
    case(
        "norm",
        "LayerNormalization",
        [x, floats(3, 1), floats(2)],
        1,
        axis=2,
        label="repeated scale",
    )
    case(
        "norm",
        "BatchNormalization",
        [x, floats(4), floats(4), floats(4), np.abs(floats(4))],
        1,
        epsilon=0.01,
    )
    case(
        "norm",
        "BatchNormalization",
        [x, floats(4), floats(4), floats(4), np.abs(floats(4))],
        3,
        training_mode=1,
        momentum=0.75,
        label="training",
    )
    case("norm", "InstanceNormalization", [x, floats(4), floats(4)], epsilon=0.01)
    case("norm", "GroupNormalization", [x, floats(4), floats(4)], num_groups=2, label="per channel")
    case(
        "norm_older",
        "GroupNormalization",
        [x, floats(2), floats(2)],
        num_groups=2,
        opset=18,
        label="per group",
    )
    for size in [1, 3, 5]:
        case(
            "norm",
            "LRN",
            [floats(1, 6, 2, 2)],
            size=size,
            alpha=0.5,
            beta=0.75,
            bias=2.0,
            label=f"size {size}",
        )
    for p in [1, 2]:
        case("norm", "LpNormalization", [x], p=p, axis=1, label=f"p {p}")
    for axis in [0, 1, -1]:
        for op in ["Softmax", "LogSoftmax", "Hardmax"]:
            case("norm", op, [x], axis=axis, label=f"axis {axis}")


def sums():
    a, b = floats(3, 4), floats(4, 2)
    case("einsum", "Einsum", [a, b], equation="ij,jk->ik")
    case("einsum", "Einsum", [a, b], equation="ij,jk", label="implied result")
    case("einsum", "Einsum", [b, a], equation="jk , ij", label="implied order")
    case("einsum", "Einsum", [a], equation="ij->ji", label="transpose")
    case("einsum", "Einsum", [a], equation="ij->", label="sum")
    case("einsum", "Einsum", [floats(3, 3)], equation="ii->i", label="diagonal")
    case("einsum", "Einsum", [floats(3, 3)], equation="ii", label="trace")
    case(
        "einsum",
        "Einsum",
        [floats(2, 3, 4), floats(2, 4, 5)],
        equation="...ij,...jk->...ik",
        label="ellipsis",
    )
    case(
        "einsum",
        "Einsum",
        [floats(2, 3, 4), floats(4, 5)],
        equation="...j,jk->...k",
        label="one ellipsis",
    )
    case(
        "einsum",
        "Einsum",
        [floats(2, 3, 4), floats(2, 3, 5)],
        equation="b...i,b...j->...bij",
        label="ellipsis in the middle",
    )
    case(
        "einsum",
        "Einsum",
        [floats(2, 3, 4), floats(3, 4)],
        equation="...i,...i",
        label="implied ellipsis",
    )
    case(
        "einsum",
        "Einsum",
        [floats(2, 2, 3, 4), floats(2, 2, 5, 4)],
        equation="bhid,bhjd->bhij",
        label="attention",
    )
    case(
        "einsum",
        "Einsum",
        [floats(2, 3), floats(3), floats(4)],
        equation="ab,b,c->ac",
        label="three",
    )
    for trans_a in [0, 1]:
        for trans_b in [0, 1]:
            left = floats(3, 4) if not trans_a else floats(4, 3)
            right = floats(4, 2) if not trans_b else floats(2, 4)
            case(
                "einsum",
                "Gemm",
                [left, right, floats(2)],
                transA=trans_a,
                transB=trans_b,
                alpha=0.5,
                beta=2.0,
            )
    for left, right in [
        ((4,), (4,)),
        ((4,), (2, 4, 3)),
        ((2, 3, 4), (4,)),
        ((2, 1, 3, 4), (5, 4, 2)),
    ]:
        case("einsum", "MatMul", [floats(*left), floats(*right)], label=f"{left} {right}")


def moves():
    x = floats(2, 3, 4)
    for mode in ["constant", "reflect", "edge", "wrap"]:
        case("shape", "Pad", [x, ints([0, 1, 2, 1, 2, 3])], mode=mode, label=mode)
        case("shape", "Pad", [x, ints([0, 0, -1, 0, 0, 2])], mode=mode, label=f"{mode} and cut")
    case("shape", "Pad", [x, ints([1, 2, 0, 1]), np.float32(1.5), ints([2, 0])], label="axes")
    case(
        "shape",
        "Slice",
        [x, ints([-1, 3]), ints([-9, 0]), ints([1, 2]), ints([-1, -2])],
        label="backwards",
    )
    case(
        "shape",
        "Slice",
        [x, ints([1]), ints([2**63 - 1]), ints([-1]), ints([2])],
        label="to the end",
    )
    case("shape", "Slice", [x, ints([2, -100]), ints([1, 100])], label="empty and clamped")
    case("shape", "Split", [floats(7, 2)], 3, num_outputs=3, label="uneven")
    case("shape", "Split", [floats(2, 7), ints([3, 0, 4])], 3, axis=1, label="sizes")
    for mode in ["DCR", "CRD"]:
        case("shape", "DepthToSpace", [floats(1, 8, 2, 3)], blocksize=2, mode=mode)
    case("shape", "SpaceToDepth", [floats(1, 2, 4, 6)], blocksize=2)
    case("shape", "Reshape", [x, ints([0, -1])], label="copy and work out")
    case("shape", "Reshape", [floats(0, 3), ints([3, 0])], allowzero=1, label="allowzero")
    for axis in [0, 1, 3, -1]:
        case("shape", "Flatten", [x], axis=axis)
    case("shape", "Transpose", [x], perm=[2, 0, 1])
    case("shape", "Transpose", [x], label="reverse")
    case("shape", "Expand", [floats(3, 1), ints([2, 1, 4])])
    case("shape", "Tile", [x, ints([1, 2, 3])])
    case("shape", "Concat", [x, floats(2, 1, 4), x], axis=-2)
    case("shape", "Shape", [x], start=-2, end=10)
    case("shape", "Range", [ints(5), ints(-4), ints(-2)])
    case("shape", "Range", [ints(5), ints(-5), ints(-2)], label="exact")
    case("shape", "Range", [ints(1), ints(8), ints(3)], label="up")
    case("shape", "Range", [np.float32(1), np.float32(2.2), np.float32(0.5)], label="floats")
    case(
        "shape",
        "ConstantOfShape",
        [ints([2, 3])],
        value=helper.make_tensor("v", TensorProto.INT64, [1], [7]),
    )
    for upper in [0, 1]:
        for k in [-1, 0, 2]:
            case("shape", "Trilu", [floats(2, 3, 4), ints(k)], upper=upper)
    case("shape", "EyeLike", [floats(3, 4)], k=1)
    case("shape", "Unsqueeze", [x, ints([0, -1])])
    case("shape", "Squeeze", [floats(1, 3, 1), ints([-1])])


def indices():
    x = floats(3, 4, 2)
    case("index", "Gather", [x, ints([[0, -1], [2, 1]])], axis=1)
    case("index", "Gather", [x, ints(2)], axis=0, label="one")
    case("index", "GatherElements", [x, ints([[[0, 1], [-1, 0]]])], axis=1)
    case("index", "GatherND", [x, ints([[0, 1], [2, -1]])])
    case("index", "GatherND", [x, ints([[1], [3], [0]])], batch_dims=1, label="batch")
    for reduction in ["none", "add", "mul", "min", "max"]:
        case(
            "index",
            "ScatterElements",
            [floats(3, 4), ints([[0, 1, -1], [2, 2, 0]]), floats(2, 3)],
            axis=1,
            reduction=reduction,
            label=reduction,
        )
        case(
            "index",
            "ScatterND",
            [x, ints([[0, 1], [2, 3], [1, 0]]), floats(3, 2)],
            reduction=reduction,
            label=reduction,
        )
    case(
        "index",
        "ScatterElements",
        [floats(3, 4), ints([[0, 1, 1], [0, 2, 1]]), floats(2, 3)],
        axis=0,
        reduction="add",
        label="add twice",
    )
    case("index", "OneHot", [ints([0, 2, -1]), ints(3), np.array([0.5, 2], np.float32)])
    case(
        "index",
        "OneHot",
        [ints([[0, 2], [1, 1]]), ints(3), np.array([0, 1], np.float32)],
        axis=1,
        label="axis",
    )
    case("index", "TopK", [x, ints([3])], 2, axis=1)
    case("index", "TopK", [x, ints([2])], 2, axis=0, largest=0, label="smallest")
    ties = np.array([[1, 3, 3, 1], [2, 2, 2, 2]], np.float32)
    case("index", "TopK", [ties, ints([2])], 2, label="ties")
    for op in ["ArgMax", "ArgMin"]:
        for last in [0, 1]:
            case("index", op, [ties], axis=1, select_last_index=last, keepdims=last)
    for exclusive in [0, 1]:
        for reverse in [0, 1]:
            case("index", "CumSum", [x, ints(1)], exclusive=exclusive, reverse=reverse)


def reductions():
    x = floats(2, 3, 4)
    for op in ["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"]:
        data = np.abs(x) + 1 if op == "LogSum" else x
        case("reduce", f"Reduce{op}", [data, ints([0, -1])], keepdims=0, label="two axes")
        case("reduce", f"Reduce{op}", [data], label="all")
    case("reduce", "ReduceSum", [x, ints([])], noop_with_empty_axes=1, label="nothing")
    case("reduce", "ReduceL1", [x, ints([])], noop_with_empty_axes=1, label="nothing")
    case("reduce", "ReduceProd", [ints([[2, 3], [4, 5]]), ints([1])], label="whole numbers")


def elements():
    x, y = floats(3, 4), floats(4)
    for op in ["Sqrt", "Log", "Reciprocal"]:
        case("elementwise", op, [np.abs(x) + np.float32(0.5)])
    for op in [
        "Neg",
        "Abs",
        "Exp",
        "Erf",
        "Sign",
        "Floor",
        "Ceil",
        "Sin",
        "Cos",
        "Tan",
        "Atan",
        "Sinh",
        "Cosh",
        "Tanh",
    ]:
        case("elementwise", op, [x])
    for op in ["Asin", "Acos"]:
        case("elementwise", op, [x / 4])
    case("elementwise", "Round", [np.array([0.5, 1.5, 2.5, -0.5, -1.5, 1.25], np.float32)])
    case("elementwise", "Erf", [np.linspace(-5, 5, 21, dtype=np.float32)], label="wide")
    for op in ["Add", "Sub", "Mul", "Div"]:
        case("elementwise", op, [x, y])
        case("elementwise", op, [ints([[7, -7], [5, -5]]), ints([2, -3])], label="whole numbers")
    case("elementwise", "Pow", [np.abs(x), y])
    case("elementwise", "Pow", [ints([2, -3]), ints([3, 2])], label="whole numbers")
    case("elementwise", "Mod", [ints([7, -7, 7, -7]), ints([3, 3, -3, -3])])
    case("elementwise", "Mod", [ints([7, -7, 7, -7]), ints([3, 3, -3, -3])], fmod=1, label="fmod")
    case("elementwise", "Mod", [x, y], fmod=1, label="floats")
    for op in ["Min", "Max", "Sum", "Mean"]:
        case("elementwise", op, [x, y, floats(3, 1)])
    for op in ["Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual"]:
        case("elementwise", op, [ints([[1, 2, 3]]), ints([[2], [1]])])
    for op in ["And", "Or", "Xor"]:
        case(
            "elementwise",
            op,
            [np.array([True, True, False, False]), np.array([True, False, True, False])],
        )
    odd = np.array([np.nan, np.inf, -np.inf, 1], np.float32)
    case("elementwise", "IsNaN", [odd])
    case("elementwise", "IsInf", [odd], detect_negative=0)
    case("elementwise", "Where", [np.array([True, False, True, False]), x, floats(3, 1)])
    case("elementwise", "Clip", [x, np.float32(-1), np.float32(1.5)])
    case("elementwise", "Clip", [x, None, np.float32(0.5)], label="above")
    for to in [TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL, TensorProto.FLOAT]:
        case("elementwise", "Cast", [np.array([-1.75, 0, 0.5, 2.5], np.float32)], to=to)
    for op in [
        "Relu",
        "LeakyRelu",
        "Elu",
        "Selu",
        "Celu",
        "ThresholdedRelu",
        "Sigmoid",
        "HardSigmoid",
        "HardSwish",
        "Gelu",
        "Softplus",
        "Softsign",
        "Mish",
    ]:
        case("elementwise", op, [x])
    for op in ["LeakyRelu", "Elu", "Celu", "ThresholdedRelu"]:
        case("elementwise", op, [x], alpha=0.75, label="alpha")
    case("elementwise", "Selu", [x], alpha=0.75, gamma=1.25, label="alpha")
    case("elementwise", "HardSigmoid", [x], alpha=0.25, beta=0.75, label="alpha")
    case("elementwise", "Gelu", [x], approximate="tanh", label="tanh")
    case("elementwise", "PRelu", [x, y])


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for make in [convolutions, pools, resizes, norms, sums, moves, indices, reductions, elements]:
        make()
    write(target)

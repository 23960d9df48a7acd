#!/usr/bin/env python3
"""Writes the networks and layers that `make bench` runs, and their properties.

    python3 models.py OUTDIR [NAME ...]      (no NAME: all; --list: names and kinds)

They are the models of tests/compare/make_models.py, some layers and a chain of 1,000 tiny sums. Files in OUTDIR that the same
sources have written stay. OUTDIR/models.json is
{"source": S, "models": {NAME: {file, kind, macs, bytes, shape}}}: kind is float, int8, chain, product or convolution; macs are
the multiply-adds of one run, padding included; bytes is the sum of the bytes that each node reads and writes; shape is the
shape of a layer in bench.c's plan. The constants of a layer are in NAME.weights.
"""
import hashlib
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "compare"))

import make_models  # noqa: E402
import make_networks  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402

SOURCES = [os.path.join(HERE, "models.py"), make_models.__file__, make_networks.__file__]
FLOAT = ["mobilenet_v2", "resnet18", "resnet50", "dscnn_kws", "resnet8_cifar", "mobilenet_v1_025_vww", "fc_autoencoder",
         "lenet", "transformer_4x256_s128", "lstm128_t100"]
INT8 = ["mobilenet_v2_qdq", "resnet18_qdq", "dscnn_kws_qdq", "resnet8_cifar_qdq", "mobilenet_v1_025_vww_qdq",
        "fc_autoencoder_qdq"]
# m, k, n
PRODUCTS = {"matmul_64": (64, 64, 64), "matmul_128": (128, 128, 128), "matmul_256": (256, 256, 256),
            "matmul_512": (512, 512, 512), "matmul_1024": (1024, 1024, 1024), "matmul_1x1024x1024": (1, 1024, 1024),
            "matmul_49x512x512": (49, 512, 512), "matmul_128x256x256": (128, 256, 256),
            "matmul_128x256x1024": (128, 256, 1024)}
# height and width, input and output channels, kernel, stride, padding, groups
CONVOLUTIONS = {"conv_3x3s1_64_64_56": (56, 64, 64, 3, 1, 1, 1), "conv_3x3s1_256_256_14": (14, 256, 256, 3, 1, 1, 1),
                "conv_3x3s2_3_32_224": (224, 3, 32, 3, 2, 1, 1), "conv_1x1_256_64_56": (56, 256, 64, 1, 1, 0, 1),
                "conv_1x1_96_576_14": (14, 96, 576, 1, 1, 0, 1), "dw_3x3s1_144_56": (56, 144, 144, 3, 1, 1, 144),
                "dw_3x3s2_96_112": (112, 96, 96, 3, 2, 1, 96), "dw_3x3s1_384_14": (14, 384, 384, 3, 1, 1, 384),
                "conv_7x7s2_3_64_224": (224, 3, 64, 7, 2, 3, 1)}
CHAIN = "chain_1000_adds"


def chain(n, length):
    """Sums of which none can be eliminated: each needs the one before it, and the operands are not constant."""
    x = n.input("input", [1, 4])
    y = n.input("other", [1, 4])
    for _ in range(length):
        x = n.op("Add", x, y)
    n.output(x)


def register():
    """Layers that make_models.py does not have."""
    for name, shape in PRODUCTS.items():
        if name not in make_models.MODELS:
            make_models.model(name, make_models.one_product, *shape)
    for name, shape in CONVOLUTIONS.items():
        if name not in make_models.MODELS:
            make_models.model(name, make_models.one_convolution, *shape)
    make_models.model(CHAIN, chain, 1000, net=make_networks.Net)


register()


def kinds():
    """{name: kind} of all, in the order in which they are run."""
    result = {CHAIN: "chain"}
    for names, kind in ((FLOAT, "float"), (INT8, "int8"), (PRODUCTS, "product"), (CONVOLUTIONS, "convolution")):
        result.update((name, kind) for name in names)
    return result


def shapes(graph):
    """{tensor: (shape, bytes of an element)}"""
    def size(element):
        known = getattr(onnx.helper, "tensor_dtype_to_np_dtype", None)  # before onnx 1.13 there is a table
        return np.dtype(known(element) if known else onnx.mapping.TENSOR_TYPE_TO_NP_TYPE[element]).itemsize

    result = {}
    for value in [*graph.input, *graph.value_info, *graph.output]:
        kind = value.type.tensor_type
        result[value.name] = [d.dim_value for d in kind.shape.dim], size(kind.elem_type)
    for value in graph.initializer:
        result[value.name] = list(value.dims), size(value.data_type)
    return result


def multiply_adds(node, shape):
    """Of a node, from the shapes of tensors."""
    def elements(name):
        return int(np.prod(shape[name][0], dtype=np.int64))

    if node.op_type == "Conv":
        return elements(node.output[0]) * elements(node.input[1]) // shape[node.input[1]][0][0]
    if node.op_type in ("Gemm", "MatMul"):
        turned = any(a.name == "transA" and a.i for a in node.attribute)
        return elements(node.output[0]) * shape[node.input[0]][0][-2 if turned else -1]
    if node.op_type == "LSTM":
        return shape[node.input[0]][0][0] * (elements(node.input[1]) + elements(node.input[2]))
    return 0


def describe(path, kind):
    """macs and bytes of a file. Between QuantizeLinear and DequantizeLinear an element is a byte, as it is computed."""
    graph = onnx.shape_inference.infer_shapes(onnx.load(path)).graph
    shape = shapes(graph)
    macs = moved = 0
    for node in graph.node:
        macs += multiply_adds(node, shape)
        if node.op_type in ("QuantizeLinear", "DequantizeLinear", "Reshape", "Flatten"):
            continue
        for name in [*node.input, *node.output]:
            if name in shape:
                moved += int(np.prod(shape[name][0], dtype=np.int64)) * (1 if kind == "int8" else shape[name][1])
    return macs, moved


def weights(path, into):
    """The constants of a layer in the order of its file, concatenated."""
    arrays = [onnx.numpy_helper.to_array(c) for c in onnx.load(path).graph.initializer]
    with open(into, "wb") as f:
        for array in arrays:
            f.write(np.ascontiguousarray(array, "<f4").tobytes())


def source():
    """A hash of the sources of the files."""
    whole = hashlib.sha256()
    for path in SOURCES:
        with open(path, "rb") as f:
            whole.update(f.read())
    return whole.hexdigest()


def write(folder, names):
    """Writes missing files. Returns {name: entry} of these names."""
    os.makedirs(folder, exist_ok=True)
    index = os.path.join(folder, "models.json")
    known = {}
    try:
        with open(index) as f:
            read = json.load(f)
        if read["source"] == source():
            known = {k: v for k, v in read["models"].items() if os.path.exists(os.path.join(folder, v["file"]))}
    except (OSError, ValueError, KeyError):
        pass
    for name in names:
        if name in known:
            continue
        kind = kinds()[name]
        path = os.path.join(folder, make_networks.write(name, folder)["file"])
        macs, moved = describe(path, kind)
        if kind in ("product", "convolution"):
            weights(path, os.path.join(folder, name + ".weights"))
        shape = " ".join("%d" % n for n in [*PRODUCTS.get(name, (0,) * 3), *CONVOLUTIONS.get(name, (0,) * 7)])
        known[name] = {"file": os.path.basename(path), "kind": kind, "macs": macs, "bytes": moved, "shape": shape}
        with open(index + ".new", "w") as f:
            json.dump({"source": source(), "models": known}, f, indent=1)
        os.replace(index + ".new", index)
    return {name: known[name] for name in names}


def main(arguments):
    if arguments == ["--list"]:
        for name, kind in kinds().items():
            print("%-26s %s" % (name, kind))
        return 0
    unknown = [a for a in arguments[1:] if a not in kinds()]
    if not arguments or arguments[0].startswith("-") or unknown:
        print(__doc__ if not unknown else "no such model: " + ", ".join(unknown), file=sys.stderr)
        return 2
    for name, entry in write(arguments[0], arguments[1:] or list(kinds())).items():
        print("%-26s %-12s %9.2f million multiply-adds" % (name, entry["kind"], entry["macs"] / 1e6))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

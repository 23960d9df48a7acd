#!/usr/bin/env python3
"""Writes the first inputs of the fuzz targets whose bytes have a format: one small model an operator and the models of
tests/core/models, one small tensor a type, one small file of each kind that the command line reads.

    python3 make_seeds.py OUTDIR          writes OUTDIR/onnx/NAME, OUTDIR/onnx_tensor/NAME, OUTDIR/npy/NAME, ...

Needs numpy, and onnx for the ONNX files. The other targets start from nothing.
"""
import io
import os
import struct
import sys
import zlib

import numpy as np

try:
    from onnx import TensorProto, helper, numpy_helper
    FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
except ImportError:
    helper = None


def f32(*shape):
    return (np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape) % 7 - 3) / 4


def i64(*values):
    return np.array(values, np.int64)


IMAGE = (1, 2, 4, 4)
# name: (operator, inputs (a tuple of dimensions is a model input, an array a constant, "" none), outputs, attributes)
NODES = {
    "relu": ("Relu", [(2, 3)], 1, {}),
    "sigmoid": ("Sigmoid", [(2, 3)], 1, {}),
    "leaky": ("LeakyRelu", [(2, 3)], 1, {"alpha": 0.1}),
    "elu": ("Elu", [(2, 3)], 1, {}),
    "clip": ("Clip", [(2, 3), np.float32(0), np.float32(6)], 1, {}),
    "hardsigmoid": ("HardSigmoid", [(2, 3)], 1, {}),
    "prelu": ("PRelu", [IMAGE, f32(2, 1, 1)], 1, {}),
    "add": ("Add", [(2, 3), f32(3)], 1, {}),
    "sub": ("Sub", [(2, 1), (1, 3)], 1, {}),
    "mul": ("Mul", [(2, 3), f32(1)], 1, {}),
    "div": ("Div", [(2, 3), f32(2, 3)], 1, {}),
    "pow": ("Pow", [(2, 3), np.float32(2)], 1, {}),
    "sqrt": ("Sqrt", [(2, 3)], 1, {}),
    "exp": ("Exp", [(2, 3)], 1, {}),
    "max": ("Max", [(2, 3), (3,), (2, 1)], 1, {}),
    "sum": ("Sum", [(2, 3), (2, 3)], 1, {}),
    "lessorequal": ("LessOrEqual", [(2, 3), (3,)], 1, {}),
    "conv": ("Conv", [IMAGE, f32(3, 2, 3, 3), f32(3)], 1, {"pads": [1, 1, 1, 1], "strides": [2, 2]}),
    "conv_group": ("Conv", [IMAGE, f32(2, 1, 2, 2)], 1, {"group": 2, "auto_pad": "SAME_UPPER"}),
    "conv_1d": ("Conv", [(1, 2, 5), f32(2, 2, 3)], 1, {"dilations": [2]}),
    "convtranspose": ("ConvTranspose", [IMAGE, f32(2, 2, 2, 2)], 1, {"strides": [2, 2], "output_padding": [1, 1]}),
    "maxpool": ("MaxPool", [IMAGE], 1, {"kernel_shape": [2, 2], "ceil_mode": 1, "strides": [2, 2]}),
    "averagepool": ("AveragePool", [IMAGE], 1, {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    "globalaverage": ("GlobalAveragePool", [IMAGE], 1, {}),
    "batchnorm": ("BatchNormalization", [IMAGE, f32(2), f32(2), f32(2), f32(2) + 1], 1, {}),
    "layernorm": ("LayerNormalization", [(2, 3), f32(3), f32(3)], 1, {}),
    "instancenorm": ("InstanceNormalization", [IMAGE, f32(2), f32(2)], 1, {}),
    "gemm": ("Gemm", [(2, 3), f32(4, 3), f32(4)], 1, {"transB": 1, "alpha": 0.5}),
    "matmul": ("MatMul", [(2, 2, 3), f32(3, 2)], 1, {}),
    "softmax": ("Softmax", [(2, 3)], 1, {"axis": 0}),
    "logsoftmax": ("LogSoftmax", [(2, 3)], 1, {}),
    "reshape": ("Reshape", [(2, 3), i64(-1, 2)], 1, {}),
    "flatten": ("Flatten", [IMAGE], 1, {"axis": 2}),
    "transpose": ("Transpose", [(2, 3, 1)], 1, {"perm": [2, 0, 1]}),
    "squeeze": ("Squeeze", [(1, 3), i64(0)], 1, {}),
    "unsqueeze": ("Unsqueeze", [(2, 3), i64(0, 3)], 1, {}),
    "concat": ("Concat", [(2, 3), (2, 1)], 1, {"axis": 1}),
    "split": ("Split", [(4, 3), i64(1, 3)], 2, {"axis": 0}),
    "slice": ("Slice", [(4, 5), i64(0, 1), i64(9, -1), i64(0, 1), i64(2, 1)], 1, {}),
    "gather": ("Gather", [(4, 2), i64(1, -1)], 1, {}),
    "expand": ("Expand", [(1, 3), i64(2, 2, 3)], 1, {}),
    "tile": ("Tile", [(2, 3), i64(1, 2)], 1, {}),
    "pad": ("Pad", [(2, 3), i64(0, 1, 1, 0)], 1, {"mode": "reflect"}),
    "resize": ("Resize", [IMAGE, "", np.array([1, 1, 2, 2], np.float32)], 1, {"mode": "nearest"}),
    "resize_sizes": ("Resize", [IMAGE, "", "", i64(1, 2, 3, 5)], 1, {"mode": "linear"}),
    "reducemean": ("ReduceMean", [(2, 3, 2)], 1, {"axes": [1, -1], "keepdims": 0}),
    "reducesum": ("ReduceSum", [(2, 3), i64(1)], 1, {}),
    "argmax": ("ArgMax", [(2, 3)], 1, {"axis": 1}),
    "topk": ("TopK", [(2, 5), i64(2)], 2, {}),
    "shape": ("Shape", [(2, 3)], 1, {}),
    "constantofshape": ("ConstantOfShape", [i64(2, 3)], 1, {}),
    "cast": ("Cast", [(2, 3)], 1, {"to": 6}), # to: INT32
    "onehot": ("OneHot", [i64(1, 3), i64(4), f32(2)], 1, {}),
    "range": ("Range", [i64(0).reshape(()), i64(5).reshape(()), i64(2).reshape(())], 1, {}),
    "where": ("Where", [np.array([True, False, True]), (2, 3), (3,)], 1, {}),
    "depthtospace": ("DepthToSpace", [(1, 4, 2, 2)], 1, {"blocksize": 2}),
    "spacetodepth": ("SpaceToDepth", [(1, 1, 4, 4)], 1, {"blocksize": 2}),
    "identity": ("Identity", [("n", 3)], 1, {}),
    "dropout": ("Dropout", [(2, 3)], 1, {}),
    "quantize": ("QuantizeLinear", [(2, 3), np.float32(0.1), np.uint8(3)], 1, {}),
}


def model(row, opset):
    kind, operands, outputs, attributes = row
    inputs, constants, names = [], [], []
    for i, x in enumerate(operands):
        names.append("" if isinstance(x, str) else "abcdefgh"[i])
        if isinstance(x, tuple):
            inputs.append(helper.make_tensor_value_info(names[-1], FLOAT, x))
        elif not isinstance(x, str):
            constants.append(numpy_helper.from_array(np.asarray(x), names[-1]))
    results = ["yz"[i] for i in range(outputs)]
    node = helper.make_node(kind, names, results, **attributes)
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info(y, FLOAT, None) for y in results],
                              constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8).SerializeToString()


def save(folder, name, data):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as f:
        f.write(data)


TYPES = "float32 float16 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool".split()


def npy(array, version):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=version)
    return out.getvalue()


def png(kind, bits, interlace, rows, width=5, height=4):
    def chunk(tag, data):
        return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))
    palette = chunk(b"PLTE", bytes(range(48))) + chunk(b"tRNS", bytes(range(16))) if kind == 3 else b""
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, interlace)) + palette +
            chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def tool(out):
    """Files that the command line reads."""
    for dtype in TYPES:
        a = np.arange(6).reshape(2, 3).astype(dtype)
        save(os.path.join(out, "npy"), "c_" + dtype, npy(a, (1, 0)))
        save(os.path.join(out, "npy"), "f_" + dtype, npy(np.asfortranarray(a), (2, 0)))
        save(os.path.join(out, "npy"), "b_" + dtype, npy(a.astype(a.dtype.newbyteorder(">")), (3, 0)))
    save(os.path.join(out, "npy"), "scalar", npy(np.float32(1), (1, 0)))
    save(os.path.join(out, "npy"), "empty", npy(np.zeros((0, 3)), (1, 0)))
    for kind, samples, depths in ((0, 1, (1, 2, 4, 8, 16)), (2, 3, (8, 16)), (3, 1, (1, 2, 4, 8)), (4, 2, (8, 16)), (6, 4, (8, 16))):
        for bits in depths:
            row = (5 * samples * bits + 7) // 8
            for interlace in (0, 1): # the passes of Adam7 of 5 x 4 pixels have these rows
                lines = [(5, 4)] if not interlace else [(1, 1), (1, 1), (2, 1), (1, 1), (3, 1), (2, 2), (5, 2)]
                rows = b"".join(bytes([y % 5]) + bytes((x * 37 + y) % (2 if kind == 3 else 256) for x in range((w * samples * bits + 7) // 8))
                                for w, h in lines for y in range(h))
                assert interlace or len(rows) == 4 * (row + 1)
                save(os.path.join(out, "png"), "%d_%d_%d" % (kind, bits, interlace), bytes([kind * 37 + bits]) + png(kind, bits, interlace, rows))
    # many pixels of one colour, or more data than pixels; for an input of 5 x 4, and for one that takes all of them
    for name, size, kind, bits, row in (("line", (1, 400000), 0, 8, 2), ("wide", (2000, 2000), 0, 1, 251), ("colour", (900, 900), 2, 8, 2701),
                                        ("deep", (500, 500), 6, 16, 4001), ("palette", (1500, 1500), 3, 4, 751)):
        for choice in (0, 1, 13):
            save(os.path.join(out, "png"), "%s_%d" % (name, choice), bytes([choice]) + png(kind, bits, 0, bytes(row * size[1]), *size))
    save(os.path.join(out, "png"), "more", b"\0" + png(0, 8, 0, bytes(3 << 20), 1, 1))
    save(os.path.join(out, "pb"), "many", b"\x08\x80\x87\xa7\x0e\x10\x01")  # 30,000,000 floats that are not there
    for i, text in enumerate((b"a\nb\nc", b"a\r\nb\r\n", b"one", b"\n\n", b"", b"a\0b", b"a\n\nb\n\n", b"\xc3\xa9\n\xff\n\x1b[1m", b"x\n" * 40,
                              b"a\rb\nc")):
        for extent in (0, 1, 2, 3, 40):
            save(os.path.join(out, "labels"), "%d_%d" % (i, extent), bytes([extent]) + text)
    keys = ("mean=1,2.5,3", "mean=1/255", "scale=0.5", "scale=1e-3,2", "std=58.395,57.12,57.375", "std=0", "color=bgr", "color=red", "layout=nhwc",
            "layout=x", "invert=yes", "invert=1", "what=1", "mean=", "mean=nan", "scale=1,2,3,4,5")
    for i, key in enumerate(keys):
        save(os.path.join(out, "metadata"), "%d" % i, b"input.x." + key.encode())
        save(os.path.join(out, "metadata"), "%d_two" % i, b"input.x." + key.encode() + b"\0input.x." + keys[(i + 5) % 16].encode() + b"\0labels=a\nb\0=v\0k")


def models(out):
    """The models of tests/core/models: subgraphs, and data-dependent shapes."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../core/models")
    for name in sorted(os.listdir(folder)):
        if name.endswith(".onnx"):
            with open(os.path.join(folder, name), "rb") as f:
                save(os.path.join(out, "onnx"), "model_" + name[:-5], f.read())


def tflite(out):
    """The models of one operator that tests/formats/test_tflite.py compares with TensorFlow Lite."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../formats"))
    import test_tflite  # its cases
    import tflite_table
    for i, name in enumerate(sorted(test_tflite.CASES)):
        data = tflite_table.model(name).bytes()
        if len(data) <= 4096:
            save(os.path.join(out, "tflite"), "%d" % i, data)


def gguf(out):
    """Language models of one layer in at most 4,096 bytes: of each architecture in float32, and with one matrix of each tensor type."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../formats"))
    import gguf_models
    tiny = dict(heads=1, kv=1, layers=1, vocabulary=6, bare=True, places=4)
    for arch in gguf_models.ARCHITECTURES:
        save(os.path.join(out, "gguf"), arch, gguf_models.make(arch, "F32", width=8, inner=8, size=8, **tiny).bytes())
    for i, kind in enumerate(gguf_models.TYPES):
        arch, inner = gguf_models.ARCHITECTURES[i % 7], 256 if kind.endswith("_K") else 32
        made = gguf_models.make(arch, "F16", width=2, inner=inner, size=2, down=kind, **tiny)
        save(os.path.join(out, "gguf"), kind, made.bytes())


def texts(out):
    """Keys of GGUF vocabularies with a text and its length, conversations of each chat template, and templates."""
    import gguf_models
    control, word, byte = 3, 1, 6
    a, b, ab, space = "a", "b", "ab", "\u2581"
    vocabularies = {
        "gpt2": ({"pre": "llama-bpe", "merges": ["a b", "ab b"], "eos_token_id": 4}, [a, b, ab, "abb", "<|end|>"], [word] * 4 + [control]),
        "llama": ({"scores": np.arange(8, dtype=np.float32), "add_space_prefix": True},
                  ["<unk>", "<s>", "</s>", "<0x61>", space, space + a, a, b], [2, control, control, byte] + [word] * 4),
        "t5": ({"scores": -np.arange(6, dtype=np.float32), "unknown_token_id": 0, "remove_extra_whitespaces": True,
                "precompiled_charsmap": np.zeros(8, np.int8)}, ["<unk>", "</s>", space, a, b, ab], [2, control] + [word] * 4),
        "bert": ({"cls_token_id": 1, "seperator_token_id": 2, "unknown_token_id": 0}, ["[UNK]", "[CLS]", "[SEP]", space + a, b], [control] * 3 + [word] * 2)}
    templates = {"chatml": "<|im_start|>{{ m }}<|im_end|>", "llama3": "<|start_header_id|><|eot_id|>", "gemma": "<start_of_turn><end_of_turn>",
                 "llama2": "[INST] <<SYS>>", "mistral": "[INST] [/INST]", "phi3": "<|assistant|><|end|>", "zephyr": "<|assistant|><|user|>"}
    for (model, (keys, tokens, types)), template in zip(vocabularies.items(), templates.values()):
        file = gguf_models.Model()
        file.keys = {"tokenizer.ggml." + key: v for key, v in dict(model=model, tokens=tokens, token_type=np.array(types, "i4"), **keys).items()}
        file.keys["tokenizer.chat_template"] = template
        for text in (b"ab a\xc3\xa9 <|end|>b", b""):
            save(os.path.join(out, "text"), "%s%d" % (model, len(text)), file.bytes() + text + bytes([len(text)]))
    talk = b"\2\2Be brief.\0\2\0Hello\0\2\1 Yes \0\2\0And?"
    for i, (name, template) in enumerate(templates.items()):
        save(os.path.join(out, "chat"), name, b"\0" + template.encode() + b"\0" + talk)
        save(os.path.join(out, "chat"), "%d" % i, bytes([i + 1]) + talk)


def safetensors(out):
    """The same models as config.json, a byte 0, and a safetensors file."""
    import json
    import gguf_models
    import test_safetensors
    for i, arch in enumerate(gguf_models.ARCHITECTURES):
        for kind in ("F32", "F16", "BF16"):
            made = gguf_models.make(arch, kind, width=8, inner=8, heads=1, kv=1, size=8, layers=1, vocabulary=6, bare=True, places=4)
            config = test_safetensors.config_of(made)
            if kind == "F16":
                config.update(pooling_mode_mean_tokens=True) if arch in gguf_models.ENCODERS else config.update(rope_scaling=test_safetensors.LLAMA3)
            if kind == "BF16":
                scaling = {"yarn": {"type": "yarn", "factor": 4}, "long": {"type": "longrope", "long_factor": [1, 2, 3, 4], "short_factor": [1, 2, 3, 4]}}
                config["rope_scaling"] = scaling["yarn" if i % 2 else "long"]
            data = json.dumps(config).encode() + b"\0" + test_safetensors.safetensors(list(test_safetensors.tensors_of(made)))
            save(os.path.join(out, "safetensors"), arch + kind, data)


def main(out):
    tool(out)
    models(out)
    tflite(out)
    gguf(out)
    texts(out)
    safetensors(out)
    if helper is None:
        return
    for name, row in NODES.items():
        save(os.path.join(out, "onnx"), name, model(row, 17))
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../formats"))
    import contrib_ml
    from contrib_case import Case
    for i, case in enumerate(contrib_ml.cases(Case)):
        if len(case.model) <= 4096:  # the most that the target takes
            save(os.path.join(out, "onnx"), "ml_%d" % i, case.model)
    for code in range(1, 17):
        try:
            text = code == TensorProto.STRING
            data = helper.make_tensor("t", code, [2, 2], [b"a", b"b", b"c", b"d"] if text else [1, 0, 1, 1])
            save(os.path.join(out, "onnx_tensor"), "typed_%d" % code, data.SerializeToString())
            save(os.path.join(out, "pb"), "typed_%d" % code, data.SerializeToString())
        except (TypeError, ValueError, KeyError):
            continue
    for dtype in TYPES:
        data = numpy_helper.from_array(np.ones((1, 3), dtype), "t")
        save(os.path.join(out, "onnx_tensor"), "raw_" + dtype, data.SerializeToString())
        save(os.path.join(out, "pb"), "raw_" + dtype, data.SerializeToString())
    external = helper.make_tensor("t", FLOAT, [2], np.zeros(2, np.float32).tobytes(), raw=True)
    external.ClearField("raw_data")
    external.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "w.bin"), ("offset", "8"), ("length", "8")):
        entry = external.external_data.add()
        entry.key, entry.value = key, value
    save(os.path.join(out, "onnx_tensor"), "external", external.SerializeToString())
    save(os.path.join(out, "pb"), "external", external.SerializeToString())


if __name__ == "__main__":
    main(sys.argv[1])

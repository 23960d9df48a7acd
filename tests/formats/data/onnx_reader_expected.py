#!/usr/bin/env python3
"""Writes onnx_reader_expected.txt with the onnx package: the expected results of test_onnx_reader.c on the ONNX test data.

usage: onnx_reader_expected.py FOLDER > onnx_reader_expected.txt

FOLDER holds the test data (node/, simple/, ...). One line each:
    other PATH                                            a .pb file that is no TensorProto (a sequence, an optional)
    model PATH IR OPSETS NODES INITIALIZERS INPUTS OUTPUTS VALUE_INFO GRAPH_NAME FIRST_OP CRC
    folder NAME MODELS TENSORS CRC                        CRC over the CRCs of the folder's files, sorted by path
A CRC is the CRC-32 of the file's content as feed_model and feed_tensor write it: numbers as 8 bytes little-endian,
strings with their length in front, tensors with their elements, little-endian.
"""
import os
import struct
import sys
import zlib

import numpy
import onnx
from onnx import numpy_helper

KINDS = {"tensor_type": 1, "sequence_type": 4, "map_type": 5, "opaque_type": 7, "sparse_tensor_type": 8,
         "optional_type": 9}


class Feed:
    def __init__(self):
        self.crc = 0

    def raw(self, data):
        self.crc = zlib.crc32(data, self.crc)

    def num(self, value):
        self.raw(struct.pack("<q", value))

    def text(self, value):
        value = value.encode("utf-8") if isinstance(value, str) else value
        self.num(len(value))
        self.raw(value)

    def texts(self, values):
        self.num(len(values))
        for v in values:
            self.text(v)

    def nums(self, values):
        self.num(len(values))
        for v in values:
            self.num(v)


def elements(t):
    if t.data_type == onnx.TensorProto.BFLOAT16:
        return (numpy_helper.to_array(t).astype(numpy.float32).view(numpy.uint32) >> 16).astype("<u2").tobytes()
    a = numpy_helper.to_array(t)
    return a.astype(a.dtype.newbyteorder("<")).tobytes()


def feed_tensor(c, t):
    c.text(t.name)
    c.nums(t.dims)
    c.num(t.data_type)
    c.num(t.data_location)
    c.texts(t.string_data)
    c.num(len(t.external_data))
    if t.data_type != onnx.TensorProto.STRING and t.data_location == 0:
        c.raw(elements(t))


def feed_value_info(c, v):
    kind = v.type.WhichOneof("value")
    c.text(v.name)
    c.num(KINDS[kind] if kind else 0)
    if kind == "tensor_type":
        c.num(v.type.tensor_type.elem_type)
        c.num(1 if v.type.tensor_type.HasField("shape") else 0)
        c.num(len(v.type.tensor_type.shape.dim))
        for d in v.type.tensor_type.shape.dim:
            which = d.WhichOneof("value")
            c.num({None: 0, "dim_value": 1, "dim_param": 2}[which])
            c.num(d.dim_value if which == "dim_value" else 0)
            c.text(d.dim_param if which == "dim_param" else "")


def feed_attribute(c, a):
    c.text(a.name)
    c.num(a.type)
    c.raw(struct.pack("<f", a.f))
    c.num(a.i)
    c.text(a.s)
    c.num(1 if a.HasField("t") else 0)
    if a.HasField("t"):
        feed_tensor(c, a.t)
    c.num(1 if a.HasField("g") else 0)
    if a.HasField("g"):
        feed_graph(c, a.g)
    c.num(len(a.floats))
    c.raw(struct.pack("<%df" % len(a.floats), *a.floats))
    c.nums(a.ints)
    c.texts(a.strings)
    c.text(a.ref_attr_name)
    c.num(len(a.tensors) + len(a.graphs) + len(a.sparse_tensors) + len(a.type_protos) +
          (1 if a.HasField("sparse_tensor") else 0) + (1 if a.HasField("tp") else 0))


def feed_graph(c, g):
    c.text(g.name)
    c.num(len(g.node))
    for n in g.node:
        c.texts(n.input)
        c.texts(n.output)
        c.text(n.name)
        c.text(n.op_type)
        c.text(n.domain)
        c.num(len(n.attribute))
        for a in n.attribute:
            feed_attribute(c, a)
    c.num(len(g.initializer))
    for t in g.initializer:
        feed_tensor(c, t)
    for values in (g.input, g.output, g.value_info):
        c.num(len(values))
        for v in values:
            feed_value_info(c, v)
    c.num(len(g.sparse_initializer))


def feed_model(c, m):
    c.num(m.ir_version)
    c.text(m.producer_name)
    c.text(m.producer_version)
    c.text(m.domain)
    c.num(m.model_version)
    c.num(len(m.opset_import))
    for o in m.opset_import:
        c.text(o.domain)
        c.num(o.version)
    c.num(len(m.functions))
    c.num(len(m.metadata_props))
    for p in m.metadata_props:
        c.text(p.key)
        c.text(p.value)
    feed_graph(c, m.graph)


def model_line(path, m, crc):
    g = m.graph
    opsets = ",".join("%s:%d" % (o.domain or "ai.onnx", o.version) for o in m.opset_import)
    print("model", path, m.ir_version, opsets, len(g.node), len(g.initializer), len(g.input), len(g.output),
          len(g.value_info), g.name.replace(" ", "_") or "-", g.node[0].op_type, "%08x" % crc)



def one_file(root, path, samples):
    """(is a model, CRC), or None if it is neither a model nor a tensor."""
    c = Feed()
    with open(os.path.join(root, path), "rb") as f:
        data = f.read()
    if path.endswith(".onnx"):
        m = onnx.load_model_from_string(data)
        feed_model(c, m)
        if path in samples:
            model_line(path, m, c.crc)
        return True, c.crc
    folder = os.path.dirname(os.path.dirname(path))
    name = os.path.basename(path)[:-3]
    m = onnx.load(os.path.join(root, folder, "model.onnx"), load_external_data=False)
    values = m.graph.input if name.startswith("input") else m.graph.output
    if values[int(name.split("_")[1])].type.WhichOneof("value") != "tensor_type":
        print("other", path)
        return None
    t = onnx.TensorProto()
    t.ParseFromString(data)
    feed_tensor(c, t)
    return False, c.crc


def main():
    root = sys.argv[1]
    for top in sorted(os.listdir(root)):
        paths = []
        for folder, _, names in os.walk(os.path.join(root, top)):
            paths += [os.path.relpath(os.path.join(folder, n), root) for n in names if n.endswith((".onnx", ".pb"))]
        paths.sort()
        models = [p for p in paths if p.endswith(".onnx")]
        samples = set(models[::max(1, len(models) // 10)])
        counts, crc = [0, 0], 0
        for p in paths:
            got = one_file(root, p, samples)
            if got:
                counts[0 if got[0] else 1] += 1
                crc = zlib.crc32(struct.pack("<q", got[1]), crc)
        if paths:
            print("folder", top, counts[0], counts[1], "%08x" % crc)


main()

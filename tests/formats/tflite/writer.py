"""Writes TensorFlow Lite models for tests: the file format (flatbuffer) with nothing but the standard library and numpy.

    m = Model()
    x = m.tensor("x", "float32", [1, 4, 4, 2])
    w = m.constant("w", numpy array)
    y = m.tensor("y", "float32", [1, 4, 4, 3])
    m.op("CONV_2D", [x, w], [y], padding="SAME", stride_h=1, stride_w=1)
    m.inputs, m.outputs = [x], [y]
    open("model.tflite", "wb").write(m.bytes())

The same calls write the same bytes. Tables of the format: a table is a dictionary {field number: (kind, value)}; kinds are the
keys of SCALARS, "table", "string", "bytes", and "[kind]" for vectors.
"""
import io
import struct
import zipfile

import numpy

# name: code of the operator, number and name of its options (OPTIONS)
OPERATORS = {
    "ADD": (0, "Add"), "AVERAGE_POOL_2D": (1, "Pool2D"), "CONCATENATION": (2, "Concatenation"), "CONV_2D": (3, "Conv2D"),
    "DEPTHWISE_CONV_2D": (4, "DepthwiseConv2D"), "DEPTH_TO_SPACE": (5, "DepthToSpace"), "DEQUANTIZE": (6, "Dequantize"),
    "EMBEDDING_LOOKUP": (7, None), "FLOOR": (8, None), "FULLY_CONNECTED": (9, "FullyConnected"),
    "HASHTABLE_LOOKUP": (10, None), "L2_NORMALIZATION": (11, "L2Norm"), "L2_POOL_2D": (12, "Pool2D"),
    "LOCAL_RESPONSE_NORMALIZATION": (13, "LocalResponseNormalization"), "LOGISTIC": (14, None), "LSTM": (16, "LSTM"),
    "MAX_POOL_2D": (17, "Pool2D"), "MUL": (18, "Mul"), "RELU": (19, None), "RELU_N1_TO_1": (20, None), "RELU6": (21, None),
    "RESHAPE": (22, "Reshape"), "RESIZE_BILINEAR": (23, "ResizeBilinear"), "SOFTMAX": (25, "Softmax"),
    "SVDF": (27, "SVDF"), "SPACE_TO_DEPTH": (26, "SpaceToDepth"), "TANH": (28, None), "CUSTOM": (32, None), "PAD": (34, "Pad"),
    "UNIDIRECTIONAL_SEQUENCE_RNN": (35, "SequenceRNN"),
    "GATHER": (36, "Gather"), "BATCH_TO_SPACE_ND": (37, "BatchToSpaceND"), "SPACE_TO_BATCH_ND": (38, "SpaceToBatchND"),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": (44, "SequenceLSTM"), "BIDIRECTIONAL_SEQUENCE_RNN": (46, "BothRNN"),
    "BIDIRECTIONAL_SEQUENCE_LSTM": (52, "BothLSTM"),
    "TRANSPOSE": (39, "Transpose"), "MEAN": (40, "Reducer"), "SUB": (41, "Sub"), "DIV": (42, "Div"), "SQUEEZE": (43, "Squeeze"),
    "STRIDED_SLICE": (45, "StridedSlice"), "EXP": (47, "Exp"), "TOPK_V2": (48, "TopKV2"), "SPLIT": (49, "Split"),
    "LOG_SOFTMAX": (50, "LogSoftmax"), "CAST": (53, "Cast"), "PRELU": (54, None), "MAXIMUM": (55, "MaximumMinimum"),
    "ARG_MAX": (56, "ArgMax"), "MINIMUM": (57, "MaximumMinimum"), "LESS": (58, "Less"), "NEG": (59, "Neg"),
    "PADV2": (60, "PadV2"), "GREATER": (61, "Greater"), "GREATER_EQUAL": (62, "GreaterEqual"), "LESS_EQUAL": (63, "LessEqual"),
    "SELECT": (64, "Select"), "SLICE": (65, "Slice"), "SIN": (66, None), "TRANSPOSE_CONV": (67, "TransposeConv"),
    "SPARSE_TO_DENSE": (68, "SparseToDense"), "TILE": (69, "Tile"), "EXPAND_DIMS": (70, "ExpandDims"), "EQUAL": (71, "Equal"),
    "NOT_EQUAL": (72, "NotEqual"), "LOG": (73, None), "SUM": (74, "Reducer"), "SQRT": (75, None), "RSQRT": (76, None),
    "SHAPE": (77, "Shape"), "POW": (78, "Pow"), "ARG_MIN": (79, "ArgMin"), "REDUCE_PROD": (81, "Reducer"),
    "REDUCE_MAX": (82, "Reducer"), "PACK": (83, "Pack"), "LOGICAL_OR": (84, "LogicalOr"), "ONE_HOT": (85, "OneHot"),
    "LOGICAL_AND": (86, "LogicalAnd"), "LOGICAL_NOT": (87, "LogicalNot"), "UNPACK": (88, "Unpack"),
    "REDUCE_MIN": (89, "Reducer"), "FLOOR_DIV": (90, "FloorDiv"), "REDUCE_ANY": (91, "Reducer"), "SQUARE": (92, "Square"),
    "ZEROS_LIKE": (93, "ZerosLike"), "FILL": (94, "Fill"), "FLOOR_MOD": (95, "FloorMod"), "RANGE": (96, "Range"),
    "RESIZE_NEAREST_NEIGHBOR": (97, "ResizeNearestNeighbor"), "LEAKY_RELU": (98, "LeakyRelu"),
    "SQUARED_DIFFERENCE": (99, "SquaredDifference"), "MIRROR_PAD": (100, "MirrorPad"), "ABS": (101, "Abs"),
    "SPLIT_V": (102, "SplitV"), "UNIQUE": (103, "Unique"), "CEIL": (104, None), "REVERSE_V2": (105, "ReverseV2"),
    "ADD_N": (106, "AddN"), "GATHER_ND": (107, "GatherNd"), "COS": (108, "Cos"), "WHERE": (109, "Where"), "RANK": (110, "Rank"),
    "ELU": (111, None), "REVERSE_SEQUENCE": (112, "ReverseSequence"), "QUANTIZE": (114, "Quantize"), "ROUND": (116, None),
    "HARD_SWISH": (117, "HardSwish"), "IF": (118, "If"), "WHILE": (119, "While"), "SCATTER_ND": (122, "ScatterNd"),
    "SELECT_V2": (123, "SelectV2"), "DENSIFY": (124, "Densify"), "BATCH_MATMUL": (126, "BatchMatMul"), "CUMSUM": (128, "Cumsum"),
    "CALL_ONCE": (129, "CallOnce"),
    "RFFT2D": (131, "Rfft2d"), "IMAG": (133, None), "REAL": (134, None), "COMPLEX_ABS": (135, None),
    "VAR_HANDLE": (142, "VarHandle"), "READ_VARIABLE": (143, "ReadVariable"), "ASSIGN_VARIABLE": (144, "AssignVariable"),
    "BROADCAST_TO": (130, "BroadcastTo"), "CONV_3D": (132, "Conv3D"), "REDUCE_ALL": (140, "Reducer"),
    "BROADCAST_ARGS": (145, None), "GELU": (150, "Gelu"), "DYNAMIC_UPDATE_SLICE": (151, "DynamicUpdateSlice"),
    "RELU_0_TO_1": (152, None), "ATAN2": (156, "ATan2"), "SIGN": (158, "Sign"), "BITCAST": (159, "Bitcast"),
    "BITWISE_XOR": (160, "BitwiseXor"), "RIGHT_SHIFT": (161, "RightShift"),
}
TYPES = {"float32": 0, "float16": 1, "int32": 2, "uint8": 3, "int64": 4, "string": 5, "bool": 6, "int16": 7, "complex64": 8,
         "int8": 9, "float64": 10, "resource": 13, "int4": 17}
ACTIVATIONS = {"NONE": 0, "RELU": 1, "RELU_N1_TO_1": 2, "RELU6": 3, "TANH": 4, "SIGN_BIT": 5}
PADDINGS = {"SAME": 0, "VALID": 1}
ONLY_ACTIVATION = {"activation": (0, "i8")}
# name of the options: number in the union, {member: (field, kind)}
OPTIONS = {
    "Conv2D": (1, {"padding": (0, "i8"), "stride_w": (1, "i32"), "stride_h": (2, "i32"), "activation": (3, "i8"),
                   "dilation_w": (4, "i32"), "dilation_h": (5, "i32"), "future": (9, "i32")}),
    "DepthwiseConv2D": (2, {"padding": (0, "i8"), "stride_w": (1, "i32"), "stride_h": (2, "i32"), "multiplier": (3, "i32"),
                            "activation": (4, "i8"), "dilation_w": (5, "i32"), "dilation_h": (6, "i32")}),
    "Pool2D": (5, {"padding": (0, "i8"), "stride_w": (1, "i32"), "stride_h": (2, "i32"), "filter_w": (3, "i32"),
                   "filter_h": (4, "i32"), "activation": (5, "i8")}),
    "FullyConnected": (8, {"activation": (0, "i8"), "format": (1, "i8"), "keep_num_dims": (2, "bool"), "asymmetric": (3, "bool")}),
    "Softmax": (9, {"beta": (0, "f32")}), "Concatenation": (10, {"axis": (0, "i32"), "activation": (1, "i8")}),
    "Add": (11, {"activation": (0, "i8"), "pot": (1, "bool")}), "L2Norm": (12, ONLY_ACTIVATION),
    "LocalResponseNormalization": (13, {"radius": (0, "i32"), "bias": (1, "f32"), "alpha": (2, "f32"), "beta": (3, "f32")}),
    "LSTM": (14, {}), "ResizeBilinear": (15, {"align_corners": (2, "bool"), "half_pixel_centers": (3, "bool")}),
    "Reshape": (17, {"new_shape": (0, "[i32]")}), "SpaceToDepth": (19, {"block_size": (0, "i32")}), "Mul": (21, ONLY_ACTIVATION),
    "Pad": (22, {}), "Gather": (23, {"axis": (0, "i32"), "batch_dims": (1, "i32")}), "BatchToSpaceND": (24, {}),
    "SpaceToBatchND": (25, {}), "Transpose": (26, {}), "Reducer": (27, {"keep_dims": (0, "bool")}),
    "Sub": (28, {"activation": (0, "i8"), "pot": (1, "bool")}), "Div": (29, ONLY_ACTIVATION),
    "Squeeze": (30, {"squeeze_dims": (0, "[i32]")}),
    "SequenceRNN": (31, {"time_major": (0, "bool"), "activation": (1, "i8")}),
    "SequenceLSTM": (71, {"activation": (0, "i8"), "cell_clip": (1, "f32"), "proj_clip": (2, "f32"), "time_major": (3, "bool")}),
    "BothRNN": (70, {"time_major": (0, "bool"), "activation": (1, "i8"), "merge": (2, "bool")}),
    "BothLSTM": (69, {"activation": (0, "i8"), "cell_clip": (1, "f32"), "proj_clip": (2, "f32"), "merge": (3, "bool"),
                      "time_major": (4, "bool")}),
    "StridedSlice": (32, {"begin_mask": (0, "i32"), "end_mask": (1, "i32"), "ellipsis_mask": (2, "i32"), "new_axis_mask": (3, "i32"),
                          "shrink_axis_mask": (4, "i32"), "offset": (5, "bool")}),
    "Exp": (33, {}), "TopKV2": (34, {}), "Split": (35, {"num_splits": (0, "i32")}), "LogSoftmax": (36, {}),
    "Cast": (37, {"in_type": (0, "i8"), "out_type": (1, "i8")}), "Dequantize": (38, {}), "MaximumMinimum": (39, {}),
    "ArgMax": (40, {"output_type": (0, "i8")}), "Less": (41, {}), "Neg": (42, {}), "PadV2": (43, {}), "Greater": (44, {}),
    "GreaterEqual": (45, {}), "LessEqual": (46, {}), "Select": (47, {}), "Slice": (48, {}),
    "TransposeConv": (49, {"padding": (0, "i8"), "stride_w": (1, "i32"), "stride_h": (2, "i32"), "activation": (3, "i8")}),
    "SparseToDense": (50, {"validate": (0, "bool")}), "Tile": (51, {}), "ExpandDims": (52, {}), "Equal": (53, {}),
    "NotEqual": (54, {}), "Shape": (55, {"out_type": (0, "i8")}), "Pow": (56, {}), "ArgMin": (57, {"output_type": (0, "i8")}),
    "Pack": (59, {"values_count": (0, "i32"), "axis": (1, "i32")}), "LogicalOr": (60, {}), "OneHot": (61, {"axis": (0, "i32")}),
    "LogicalAnd": (62, {}), "LogicalNot": (63, {}), "Unpack": (64, {"num": (0, "i32"), "axis": (1, "i32")}), "FloorDiv": (65, {}),
    "Square": (66, {}), "ZerosLike": (67, {}), "Fill": (68, {}), "FloorMod": (72, {}), "Range": (73, {}),
    "ResizeNearestNeighbor": (74, {"align_corners": (0, "bool"), "half_pixel_centers": (1, "bool")}),
    "LeakyRelu": (75, {"alpha": (0, "f32")}), "SquaredDifference": (76, {}), "MirrorPad": (77, {"mode": (0, "i8")}), "Abs": (78, {}),
    "SplitV": (79, {"num_splits": (0, "i32")}), "Unique": (80, {"idx_out_type": (0, "i8")}), "ReverseV2": (81, {}), "AddN": (82, {}),
    "GatherNd": (83, {}), "Cos": (84, {}), "Where": (85, {}), "Rank": (86, {}),
    "ReverseSequence": (87, {"seq_dim": (0, "i32"), "batch_dim": (1, "i32")}), "Quantize": (89, {}), "HardSwish": (91, {}),
    "If": (92, {"then": (0, "i32"), "otherwise": (1, "i32")}), "While": (93, {"cond": (0, "i32"), "body": (1, "i32")}),
    "DepthToSpace": (94, {"block_size": (0, "i32")}), "ScatterNd": (97, {}), "SelectV2": (98, {}), "Densify": (99, {}),
    "BatchMatMul": (101, {"adj_x": (0, "bool"), "adj_y": (1, "bool"), "asymmetric": (2, "bool")}),
    "Cumsum": (102, {"exclusive": (0, "bool"), "reverse": (1, "bool")}), "BroadcastTo": (104, {}),
    "CallOnce": (103, {"init": (0, "i32")}), "Rfft2d": (105, {}), "ReadVariable": (112, {}), "AssignVariable": (113, {}),
    "VarHandle": (111, {"container": (0, "string"), "shared_name": (1, "string")}),
    "SVDF": (6, {"rank": (0, "i32"), "activation": (1, "i8"), "asymmetric": (2, "bool")}),
    "Conv3D": (106, {"padding": (0, "i8"), "stride_d": (1, "i32"), "stride_w": (2, "i32"), "stride_h": (3, "i32"),
                     "activation": (4, "i8"), "dilation_d": (5, "i32"), "dilation_w": (6, "i32"), "dilation_h": (7, "i32")}),
    "Gelu": (116, {"approximate": (0, "bool")}), "DynamicUpdateSlice": (117, {}), "ATan2": (122, {}), "Sign": (123, {}),
    "Bitcast": (124, {}), "BitwiseXor": (125, {}), "RightShift": (126, {}),
}
SCALARS = {"i8": "b", "u8": "B", "bool": "?", "i32": "i", "u32": "I", "i64": "q", "u64": "Q", "f32": "f"}


def flexbuffer(members, width=4, indirect=False):
    """A map {key: int, float or bool} as a flexbuffer: keys, their offsets, values of 4 or 8 bytes, their types. indirect: values of
    4 bytes are before the map."""
    names, data, at, placed = sorted(members), b"", {}, {}
    ints, floats, bits = {4: ("<i", "<f", 2), 8: ("<q", "<d", 3)}[width]
    for name in names:
        at[name] = len(data)
        data += name.encode() + b"\0"
    data += bytes(-len(data) % 8)
    for name in names:
        placed[name] = len(data)
        data += struct.pack("<f" if isinstance(members[name], float) else "<i", members[name]) if indirect else b""
    data += bytes(-len(data) % 8) + struct.pack("<H", len(names))
    keys = len(data)
    for name in names:
        data += struct.pack("<H", len(data) - at[name])
    data += bytes(-len(data) % 8)
    data += struct.pack(ints, len(data) - keys) + struct.pack(ints, 2) + struct.pack(ints, len(names))
    values, kinds = len(data), {bool: 26, int: 1, float: 3}
    for name in names:
        value, there = members[name], indirect and not isinstance(members[name], bool)
        data += struct.pack(floats if isinstance(value, float) and not there else ints, len(data) - placed[name] if there else value)
    for name in names:
        there = indirect and not isinstance(members[name], bool)
        data += bytes([(kinds[type(members[name])] + 5 * there) << 2 | (2 if there else bits)])
    return data + bytes([len(data) - values, 9 << 2 | bits, 1])


class Writer:
    """A flatbuffer, written from its root to its leaves: every offset leads forward."""

    def __init__(self, identifier=b"TFL3"):
        self.data = bytearray(8)
        self.data[4:8] = identifier

    def align(self, to, at=0):
        while (len(self.data) + at) % to:
            self.data.append(0)

    def scalar(self, kind, value):
        self.data += struct.pack("<" + SCALARS[kind], value)

    def put(self, where, kind, value):
        """Writes the object that a field of this kind refers to, and the offset to it at `where`."""
        if kind == "table":
            at = self.table(value)
        elif kind in ("string", "bytes"):
            raw = value.encode() if kind == "string" else bytes(value)
            self.align(16 if kind == "bytes" else 4, 4)
            at = len(self.data)
            self.data += struct.pack("<I", len(raw)) + raw + (b"\0" if kind == "string" else b"")
        else:
            of = kind[1:-1]
            size = struct.calcsize(SCALARS[of]) if of in SCALARS else 4
            self.align(max(4, size), 4)
            at = len(self.data)
            self.data += struct.pack("<I", len(value))
            if of in SCALARS:
                for one in value:
                    self.scalar(of, one)
            else:
                first = len(self.data)
                self.data += bytes(4 * len(value))
                for i, one in enumerate(value):
                    self.put(first + 4 * i, of, one)
        struct.pack_into("<I", self.data, where, at - where)

    def table(self, fields):
        """A table with its vtable before it; returns its offset."""
        fields = {number: field for number, field in fields.items() if field[1] is not None}
        slots = max(fields, default=-1) + 1
        order = sorted(fields, key=lambda n: (-struct.calcsize(SCALARS.get(fields[n][0], "I")), n))
        offset, places = 4, {}
        for n in order:
            size = struct.calcsize(SCALARS.get(fields[n][0], "I"))
            offset += -offset % size
            places[n] = offset
            offset += size
        self.align(8, 2 * slots + 4)
        vtable = len(self.data)
        self.data += struct.pack("<HH", 4 + 2 * slots, offset)
        for n in range(slots):
            self.data += struct.pack("<H", places.get(n, 0))
        at = len(self.data)
        self.data += struct.pack("<i", at - vtable) + bytes(offset - 4)
        for n in sorted(fields):
            kind, value = fields[n]
            if kind in SCALARS:
                struct.pack_into("<" + SCALARS[kind], self.data, at + places[n], value)
            else:
                self.put(at + places[n], kind, value)
        return at


def metadata(inputs=(), outputs=(), **texts):
    """The flatbuffer of TFLITE_METADATA. inputs: dictionaries with mean and std (lists), color (1 rgb, 2 gray); outputs: with labels,
    the name of an associated file; texts: description, license."""
    def tensor(mean=None, std=None, color=None, labels=None, kind=2):
        unit = {0: ("u8", 1), 1: ("table", {0: ("[f32]", mean), 1: ("[f32]", std)})}
        content = {0: ("u8", 2), 1: ("table", {0: ("i8", color)})}
        files = [{0: ("string", "notes.txt"), 2: ("i8", 1)}, {0: ("string", labels), 2: ("i8", kind)}]
        return {0: ("string", "tensor"), 3: ("table", content if color is not None else None), 4: ("[table]", [unit] if mean else None),
                6: ("[table]", files if labels else None)}
    writer = Writer(b"M001")
    graph = {2: ("[table]", [tensor(**t) for t in inputs]), 3: ("[table]", [tensor(**t) for t in outputs])}
    root = writer.table({1: ("string", texts.get("description")), 3: ("[table]", [graph]), 5: ("string", texts.get("license"))})
    struct.pack_into("<I", writer.data, 0, root)
    return bytes(writer.data)


def with_files(data, files, method=zipfile.ZIP_STORED):
    """The bytes of a model, followed by an archive of associated files."""
    out = io.BytesIO(data)
    with zipfile.ZipFile(out, "a", method) as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name), text, method)
    return out.getvalue()


class Model:
    """A model that grows tensor by tensor; tensors are named by their indices."""

    def __init__(self, description="nnrt test"):
        self.description, self.tensors, self.operators, self.codes = description, [], [], []
        self.buffers, self.inputs, self.outputs, self.signature = [b""], [], [], None
        self.metadata = []  # (name, index of a buffer)
        self.graphs, self.signatures = [self], []  # of the file; (name, index of the graph, inputs, outputs)

    def subgraph(self):
        """Another graph of the file: a Model with the same buffers and codes. Its index: len(m.graphs) - 1."""
        g = Model()
        g.buffers, g.codes = self.buffers, self.codes
        self.graphs.append(g)
        return g

    def tensor(self, name, kind, shape, scale=None, zero=0, axis=0, data=None, signature=None, variable=None, sparsity=None):
        """A tensor; scale and zero: numbers or lists; data: bytes of a constant, whose stored elements sparsity describes."""
        quant = None
        if scale is not None:
            scales = [float(s) for s in numpy.atleast_1d(scale)]
            zeros = [int(z) for z in numpy.broadcast_to(numpy.atleast_1d(zero), (len(scales),))]
            quant = {2: ("[f32]", scales), 3: ("[i64]", zeros), 6: ("i32", axis or None)}
        buffer = 0
        if data is not None:
            buffer = len(self.buffers)
            self.buffers.append(data)
        self.tensors.append({0: ("[i32]", list(shape)), 1: ("i8", TYPES[kind]), 2: ("u32", buffer), 3: ("string", name),
                             4: ("table", quant), 5: ("bool", variable), 6: ("table", sparsity), 7: ("[i32]", signature)})
        return len(self.tensors) - 1

    def int4(self, name, array, **quant):
        """A constant of int4, of which two take a byte, the first the low bits."""
        flat = numpy.append(numpy.asarray(array).ravel() & 15, [0] * (numpy.size(array) % 2)).astype("uint8")
        return self.tensor(name, "int4", numpy.shape(array), data=(flat[::2] | flat[1::2] << 4).tobytes(), **quant)

    def constant(self, name, array, **quant):
        array = numpy.asarray(array)
        return self.tensor(name, str(array.dtype), array.shape, data=array.tobytes(), **quant)

    def op(self, name, inputs, outputs, version=1, custom=None, custom_options=None, **members):
        code, options = OPERATORS[name]
        entry = (code, version, custom)
        if entry not in self.codes:
            self.codes.append(entry)
        table = {0: ("u32", self.codes.index(entry)), 1: ("[i32]", inputs), 2: ("[i32]", outputs), 5: ("bytes", custom_options)}
        if options is not None:
            number, fields = OPTIONS[options]
            filled = {}
            for member, value in members.items():
                field, kind = fields[member]
                value = ACTIVATIONS.get(value, PADDINGS.get(value, TYPES.get(value, value))) if isinstance(value, str) else value
                filled[field] = (kind, value)
            table[3], table[4] = ("u8", number), ("table", filled)
        self.operators.append(table)

    def describe(self, data):
        """Adds TFLITE_METADATA."""
        self.metadata.append(("TFLITE_METADATA", len(self.buffers)))
        self.buffers.append(data)

    def bytes(self):
        codes = [{0: ("i8", min(code, 127)), 1: ("string", custom), 2: ("i32", version), 3: ("i32", code)}
                 for code, version, custom in self.codes]
        graphs = [{0: ("[table]", g.tensors), 1: ("[i32]", g.inputs), 2: ("[i32]", g.outputs), 3: ("[table]", g.operators),
                   4: ("string", "main" if g is self else None)} for g in self.graphs]
        signatures = [] if self.signature is None else [("serving_default", 0, *self.signature)]
        signatures = [{**{k: ("[table]", [{0: ("string", n), 1: ("u32", tensor)} for n, tensor in names]) for k, names in enumerate(maps)},
                       2: ("string", name), 4: ("u32", graph)} for name, graph, *maps in signatures + self.signatures]
        writer = Writer()
        root = writer.table({0: ("u32", 3), 1: ("[table]", codes), 2: ("[table]", graphs), 3: ("string", self.description),
                             4: ("[table]", [{0: ("bytes", data if data else None)} for data in self.buffers]),
                             6: ("[table]", [{0: ("string", name), 1: ("u32", k)} for name, k in self.metadata] or None),
                             7: ("[table]", signatures or None)})
        struct.pack_into("<I", writer.data, 0, root)
        return bytes(writer.data)

"""libnnadapter.so as Paddle-Lite's bridge (lite/kernels/nnadapter) drives it.

Op is an operator of a Paddle program, Scope has its tensors. Program follows the bridge's engine: it acquires a device, asks
for a cached program, builds a model, compiles it, and runs it with access functions that resize the program's tensors.
Converter adds operands and operations; the functions of CONVERTERS (nnadapter_converters.py) emit the operations of each
operator with it.

Output operands have neither a shape nor a precision: NNAdapter infers both. Quantization is always symmetric. Scope.scales has
a list of scales for each quantized variable: one scale of a tensor, or one for each channel of a weight.
"""
import ctypes
import hashlib

import numpy as np

UNKNOWN = -65535
# NNAdapterOperandPrecisionCode
BOOL8, INT8, UINT8, INT16, INT32, INT64, FLOAT16, FLOAT32, FLOAT64 = 0, 1, 2, 3, 5, 7, 9, 10, 11
PER_LAYER, PER_CHANNEL = {INT8: 24, INT32: 30}, {INT8: 25, INT32: 31}
PLAIN = {np.dtype(t): p for t, p in (
    ('bool', BOOL8), ('int8', INT8), ('uint8', UINT8), ('int16', INT16), ('int32', INT32), ('int64', INT64),
    ('float16', FLOAT16), ('float32', FLOAT32), ('float64', FLOAT64))}
TYPES = {p: t for t, p in PLAIN.items()}
TYPES.update({p: TYPES[plain] for codes in (PER_LAYER, PER_CHANNEL) for plain, p in codes.items()})

# NNAdapterOperationCode, from 0 on
OPERATIONS = {name: code for code, name in enumerate('''
ABS ADAPTIVE_AVERAGE_POOL_2D ADAPTIVE_MAX_POOL_2D ADD AND ARG_MAX ARG_MIN ASSIGN AVERAGE_POOL_2D BATCH_NORMALIZATION CAST
CHANNEL_SHUFFLE CLIP CONCAT CONV_2D CONV_2D_TRANSPOSE COS CUM_SUM DEFORMABLE_CONV_2D DEQUANTIZE DIV EQUAL EXP EXPAND FILL
FILL_LIKE FLATTEN FLOOR FLOOR_DIV FULLY_CONNECTED GATHER GELU GREATER GREATER_EQUAL GRID_SAMPLE GROUP_NORMALIZATION
HARD_SIGMOID HARD_SWISH INSTANCE_NORMALIZATION LAYER_NORMALIZATION LEAKY_RELU LESS LESS_EQUAL LOG LOG_SOFTMAX
LP_NORMALIZATION LRN MAT_MUL MAX MAX_POOL_2D MESHGRID MIN MUL NOT NOT_EQUAL OR PAD POW PRIOR_BOX PRELU QUANTIZE RANGE
REDUCE_MEAN REDUCE_MAX REDUCE_SUM RELU RELU6 RESHAPE RESIZE_NEAREST RESIZE_LINEAR ROI_ALIGN ROLL RSQRT SHAPE SIGMOID SIN
SLICE SOFTMAX SOFTPLUS SPLIT SQUARE SQUEEZE STACK SUB SUM SWISH TANH TILE TOP_K TRANSPOSE UNSQUEEZE UNSTACK WHERE XOR
NON_MAX_SUPPRESSION YOLO_BOX'''.split())}

CONVERTERS = {}  # Paddle operator -> function(converter, op)


def converts(*kinds):
    """A converter of these Paddle operators."""
    def register(function):
        CONVERTERS.update(dict.fromkeys(kinds, function))
        return function
    return register


class Refused(Exception):
    """A function of NNAdapter returned another code than NO_ERROR."""


# ---- the types of nnadapter.h ----

class Dimensions(ctypes.Structure):
    """NNAdapterOperandDimensionType"""
    _fields_ = [('count', ctypes.c_uint32), ('data', ctypes.c_int32 * 8), ('dynamic_count', ctypes.c_uint32),
                ('dynamic_data', (ctypes.c_int32 * 8) * 8)]


class Channels(ctypes.Structure):
    """NNAdapterSymmPerChannelQuantParams"""
    _fields_ = [('channel_dim', ctypes.c_uint32), ('scale_count', ctypes.c_uint32), ('scales', ctypes.POINTER(ctypes.c_float))]


class Quantization(ctypes.Union):
    """The symmetric members of the union in NNAdapterOperandType."""
    _fields_ = [('scale', ctypes.c_float), ('channels', Channels)]


class OperandType(ctypes.Structure):
    """NNAdapterOperandType"""
    _fields_ = [('precision', ctypes.c_int32), ('layout', ctypes.c_int32), ('lifetime', ctypes.c_int32),
                ('dimensions', Dimensions),
                ('quantization', Quantization)]

    def shape(self):
        """The dimensions as a list."""
        return list(self.dimensions.data[:self.dimensions.count])


HANDLE = ctypes.c_void_p
ACCESS = ctypes.CFUNCTYPE(HANDLE, HANDLE, ctypes.POINTER(OperandType), HANDLE)
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, HANDLE)
SIGNATURES = {  # name: argument types; all return a code, except destroy and release
    'Device_acquire': (ctypes.c_char_p, ctypes.POINTER(HANDLE)),
    'Device_release': (HANDLE,),
    'Device_getName': (HANDLE, ctypes.POINTER(ctypes.c_char_p)),
    'Device_getVendor': (HANDLE, ctypes.POINTER(ctypes.c_char_p)),
    'Device_getType': (HANDLE, ctypes.POINTER(ctypes.c_int32)),
    'Device_getVersion': (HANDLE, ctypes.POINTER(ctypes.c_int32)),
    'Context_create': (ctypes.POINTER(HANDLE), ctypes.c_uint32, ctypes.c_char_p, CALLBACK, ctypes.POINTER(HANDLE)),
    'Context_destroy': (HANDLE,),
    'Model_create': (ctypes.POINTER(HANDLE),),
    'Model_destroy': (HANDLE,),
    'Model_finish': (HANDLE,),
    'Model_addOperand': (HANDLE, ctypes.POINTER(OperandType), ctypes.POINTER(HANDLE)),
    'Model_setOperandValue': (HANDLE, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_bool),
    'Model_getOperandType': (HANDLE, ctypes.POINTER(ctypes.POINTER(OperandType))),
    'Model_addOperation': (HANDLE, ctypes.c_int32, ctypes.c_uint32, ctypes.POINTER(HANDLE), ctypes.c_uint32,
                           ctypes.POINTER(HANDLE), ctypes.POINTER(HANDLE)),
    'Model_identifyInputsAndOutputs': (HANDLE, ctypes.c_uint32, ctypes.POINTER(HANDLE), ctypes.c_uint32,
                                       ctypes.POINTER(HANDLE)),
    'Model_getSupportedOperations': (HANDLE, HANDLE, ctypes.POINTER(ctypes.c_bool)),
    'Compilation_create': (HANDLE, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_char_p, HANDLE,
                           ctypes.POINTER(HANDLE)),
    'Compilation_destroy': (HANDLE,),
    'Compilation_finish': (HANDLE,),
    'Compilation_queryInputsAndOutputs': (HANDLE, ctypes.POINTER(ctypes.c_uint32), ctypes.c_void_p,
                                          ctypes.POINTER(ctypes.c_uint32), ctypes.c_void_p),
    'Execution_create': (HANDLE, ctypes.POINTER(HANDLE)),
    'Execution_destroy': (HANDLE,),
    'Execution_setInput': (HANDLE, ctypes.c_int32, HANDLE, ACCESS),
    'Execution_setOutput': (HANDLE, ctypes.c_int32, HANDLE, ACCESS),
    'Execution_compute': (HANDLE,)}


class Library:
    """The functions of libnnadapter.so; a call that does not return NO_ERROR raises Refused."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        for name, arguments in SIGNATURES.items():
            function = getattr(self.library, 'NNAdapter' + name)
            function.argtypes = arguments
            function.restype = None if name.endswith(('_destroy', '_release')) else ctypes.c_int

    def code(self, name, *arguments):
        """The code that a function returns."""
        return getattr(self.library, 'NNAdapter' + name)(*arguments)

    def call(self, name, *arguments):
        """The same, where only NO_ERROR is right."""
        code = self.code(name, *arguments)
        if code:
            raise Refused('NNAdapter%s returned %d' % (name, code))

    def made(self, name, *arguments):
        """The handle that a function writes to its last argument."""
        handle = HANDLE()
        self.call(name, *arguments, ctypes.byref(handle))
        return handle


class Device:
    """A device and its context, as the bridge's engine opens them."""

    def __init__(self, library, name):
        text, number = ctypes.c_char_p(), ctypes.c_int32()
        self.library, self.name = library, name
        self.device = library.made('Device_acquire', name.encode())
        for query, result in (('Name', text), ('Vendor', text), ('Type', number), ('Version', number)):
            library.call('Device_get' + query, self.device, ctypes.byref(result))
        self.context = library.made('Context_create', (HANDLE * 1)(self.device), 1, b'', CALLBACK())

    def close(self):
        """Destroys both."""
        self.library.call('Context_destroy', self.context)
        self.library.call('Device_release', self.device)


# ---- Paddle's program ----

class Op:
    """An operator of a Paddle program: inputs and outputs are names of variables, or lists of names, by their role."""

    def __init__(self, kind, inputs, outputs, **attrs):
        self.kind, self.attrs = kind, attrs
        self.inputs = {role: [names] if isinstance(names, str) else list(names) for role, names in inputs.items()}
        self.outputs = {role: [names] if isinstance(names, str) else list(names) for role, names in outputs.items()}

    def input(self, role):
        """The first variable of a role."""
        return self.inputs[role][0]

    def output(self, role='Out'):
        """The first variable of a role."""
        return self.outputs[role][0]

    def attr(self, name, default=None):
        """An attribute, or its default."""
        return self.attrs.get(name, default)


class Scope:
    """Tensors: feeds are the program's inputs, weights are persistable."""

    def __init__(self, feeds, weights=None, scales=None):
        self.feeds, self.weights, self.scales = feeds, weights or {}, scales or {}
        self.dynamic = {}  # variable -> the shapes with which the program will run

    def scale(self, name):
        """The scales of a variable, [] without quantization."""
        return list(self.scales.get(name, []))

    def weight_scale(self, name):
        """The same of a weight. Scales that differ by at most 1e-5 are one scale for the bridge."""
        scales = self.scale(name)
        return scales if any(abs(s - scales[0]) > 1e-5 for s in scales) else scales[:1]


def bias_codes(bias, scales):
    """A float32 bias in int32, as the bridge quantizes it: cut off, and within -(2^31 - 1) .. 2^31 - 1."""
    codes = (np.asarray(bias, np.float32) / np.asarray(scales, np.float32)).astype(np.float64)
    return np.clip(np.trunc(codes), -2147483647, 2147483647).astype(np.int32)


class Converter:
    """A model under construction."""

    def __init__(self, device, scope):
        self.library, self.scope, self.device = device.library, scope, device
        self.model = self.library.made('Model_create')
        self.named = {}  # variable -> its last operand
        self.kept = []   # arrays that constants refer to
        self.operations = 0

    def operand(self, shape, precision, scales=(), axis=0, dynamic=()):
        """A new operand. An unknown precision: an output, whose shape is [] then."""
        kind = OperandType()
        kind.precision = precision
        kind.dimensions.count = len(shape)
        kind.dimensions.data[:len(shape)] = shape
        kind.dimensions.dynamic_count = len(dynamic)
        for k, dims in enumerate(dynamic):
            kind.dimensions.dynamic_data[k][:len(dims)] = dims
        if len(scales) > 1:
            kind.quantization.channels = Channels(axis, len(scales), (ctypes.c_float * len(scales))(*scales))
        elif scales:
            kind.quantization.scale = scales[0]
        return self.library.made('Model_addOperand', self.model, ctypes.byref(kind))

    def constant(self, values, scales=(), shape=None, copy=True, axis=0):
        """A constant. Python's numbers are int32, float32 and bool, of shape [1]. copy False: used in place, as the bridge
        passes the weights of a program."""
        if not isinstance(values, np.ndarray):
            first = values[0] if isinstance(values, (list, tuple)) else values
            kind = np.bool_ if isinstance(first, bool) else np.int32 if isinstance(first, int) else np.float32
            values = np.atleast_1d(np.asarray(values, kind))
        values = np.ascontiguousarray(values)
        plain = PLAIN[values.dtype]
        precision = plain if not scales else (PER_CHANNEL if len(scales) > 1 else PER_LAYER)[plain]
        operand = self.operand(list(values.shape) if shape is None else shape, precision, scales, axis)
        self.library.call('Model_setOperandValue', operand, values.ctypes.data, values.nbytes, copy)
        if not copy:
            self.kept.append(values)
        return operand

    def weight(self, name, shape=None, scales=None):
        """The constant of a persistable variable."""
        return self.constant(self.scope.weights[name], self.scope.scale(name) if scales is None else scales, shape, False)

    def input(self, name):
        """The operand of a variable, a constant if it is persistable and has none yet."""
        return self.named[name] if name in self.named else self.weight(name)

    def optional(self, op, role):
        """The operand of a role, None if the operator lacks it."""
        return self.input(op.input(role)) if op.inputs.get(role) else None

    def output(self, name=None, scales=None):
        """An output: a variable with its scales, or an operand without a name."""
        operand = self.operand([], UNKNOWN, self.scope.scale(name) if scales is None else scales)
        if name is not None:
            self.named[name] = operand
        return operand

    def type(self, operand):
        """The operand's type as it is now."""
        kind = ctypes.POINTER(OperandType)()
        self.library.call('Model_getOperandType', operand, ctypes.byref(kind))
        return kind.contents

    def shape(self, operand):
        """The operand's dimensions."""
        return self.type(operand).shape()

    def add(self, operation, inputs, outputs):
        """An operation; None is an optional operand that is left out. Returns its first output."""
        outputs = outputs if isinstance(outputs, list) else [outputs]
        self.library.made('Model_addOperation', self.model, OPERATIONS[operation], len(inputs), (HANDLE * len(inputs))(*inputs),
                          len(outputs), (HANDLE * len(outputs))(*outputs))
        self.operations += 1
        return outputs[0]

    def apply(self, ops, results):
        """Converts all operators, and finishes the model: inputs and outputs are in the order of their names."""
        for name, value in sorted(self.scope.feeds.items()):
            dynamic = self.scope.dynamic.get(name, [])
            shape = [UNKNOWN if any(dims[k] != size for dims in dynamic) else size for k, size in enumerate(value.shape)]
            scales, plain = self.scope.scale(name), PLAIN[value.dtype]
            self.named[name] = self.operand(shape, PER_LAYER[plain] if scales else plain, scales, 0, dynamic)
        inputs = [self.named[name] for name in sorted(self.scope.feeds)]
        for op in ops:
            CONVERTERS[op.kind](self, op)
        outputs = [self.named[name] for name in sorted(results)]
        self.library.call('Model_identifyInputsAndOutputs', self.model, len(inputs), (HANDLE * len(inputs))(*inputs),
                          len(outputs),
                          (HANDLE * len(outputs))(*outputs))
        self.library.call('Model_finish', self.model)
        supported = (ctypes.c_bool * self.operations)()
        self.library.call('Model_getSupportedOperations', self.model, self.device.context, supported)
        if not all(supported):
            raise Refused('operation %d is not supported' % list(supported).index(False))


class Program:
    """The compiled program of some operators."""

    def __init__(self, device, ops, scope, results):
        self.library, self.results, self.scope = device.library, sorted(results), scope
        self.model, self.compilation, self.execution = HANDLE(), HANDLE(), HANDLE()
        self.feeds, self.found = [], [None] * len(self.results)
        self.reader, self.writer = ACCESS(self.read), ACCESS(self.write)
        names = sorted(scope.feeds)
        token = hashlib.md5(device.name.encode() + b''.join(
            name.encode() + ''.join(map(str, scope.feeds[name].shape)).encode() for name in names)).hexdigest().encode()
        try:
            self.cached(device, token)
            converter = Converter(device, scope)
            self.model, self.kept = converter.model, converter.kept
            converter.apply(ops, self.results)
            self.compilation = self.library.made('Compilation_create', self.model, token, None, 0, b'', device.context)
            self.library.call('Compilation_finish', self.compilation)
            counts = ctypes.c_uint32(), ctypes.c_uint32()
            self.library.call('Compilation_queryInputsAndOutputs', self.compilation, ctypes.byref(counts[0]), None,
                              ctypes.byref(counts[1]), None)
            if (counts[0].value, counts[1].value) != (len(names), len(self.results)):
                raise Refused('%d inputs and %d outputs' % (counts[0].value, counts[1].value))
            self.execution = self.library.made('Execution_create', self.compilation)
            for i in range(len(names)):
                self.library.call('Execution_setInput', self.execution, i, i + 1, self.reader)
            for i in range(len(self.results)):
                self.library.call('Execution_setOutput', self.execution, i, i + 1, self.writer)
        except BaseException:
            self.close()
            raise

    def cached(self, device, token):
        """The engine first asks for a cached program, without a model, a buffer and a folder: there is none."""
        compilation = self.library.made('Compilation_create', None, token, None, 0, b'', device.context)
        code = self.library.code('Compilation_finish', compilation)
        self.library.call('Compilation_destroy', compilation)
        if code == 0:
            raise Refused('a cache without a buffer and a folder was used')

    def read(self, memory, kind, _device):
        """Access function of inputs: writes the dimensions of this run."""
        value = self.feeds[memory - 1]
        kind.contents.dimensions.count = value.ndim
        kind.contents.dimensions.data[:value.ndim] = value.shape
        return value.ctypes.data

    def write(self, memory, kind, _device):
        """Access function of outputs: allocates the tensor."""
        self.found[memory - 1] = np.zeros(kind.contents.shape(), TYPES[kind.contents.precision])
        return self.found[memory - 1].ctypes.data

    def run(self, feeds=None):
        """The results by name."""
        feeds = self.scope.feeds if feeds is None else feeds
        self.feeds = [np.ascontiguousarray(feeds[name]) for name in sorted(feeds)]
        self.library.call('Execution_compute', self.execution)
        return dict(zip(self.results, self.found))

    def close(self):
        """Destroys all, as the bridge's program does."""
        self.library.call('Execution_destroy', self.execution)
        self.library.call('Compilation_destroy', self.compilation)
        self.library.call('Model_destroy', self.model)
        self.execution = self.compilation = self.model = HANDLE()

"""Neural networks of ONNX, TensorFlow Lite and .nnrt files, with the interface of onnxruntime: import nnrt as ort."""
import copy
import dataclasses
import functools
import json
import mmap
import os
import threading
import time
import warnings
from types import SimpleNamespace
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy

from . import _nnrt, plan
from ._nnrt import InvalidModel, load_driver
from .tools import compare, convert, emit_c, quantize
from .values import IOBinding, OrtValue

__version__: str = _nnrt.version
__all__ = ["ExecutionMode", "GraphOptimizationLevel", "IOBinding", "InferenceSession", "InvalidModel", "ModelMetadata",
           "NodeArg", "OrtValue", "RunOptions", "SessionOptions", "compare", "convert", "emit_c", "get_available_providers",
           "get_device", "load_driver", "quantize"]
_PLANS = 4  # that a session keeps, if the model cannot have a plan for all shapes: those of the last shapes
_SMALL = 64  # elements of an input that may be a parameter of the graph (axes, a shape)
_TYPES = {**{t: t for t in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16")},
          "float32": "float", "float64": "double"}  # numpy's names: those of ONNX
_HERE = {"(bounds)": "SessionOptions.max_shapes has upper bounds", "nnrt_onnx_desc.path": "pass the path, not the bytes",
         "nnrt_model_fix": "run() has the values of inputs of up to %d elements" % _SMALL}
_pool = functools.lru_cache(maxsize=None)(_nnrt.make_pool)  # sessions with the same number of threads share a thread pool
Shape = List[Union[int, str, None]]
Array = numpy.ndarray[Any, Any]
# of onnxruntime, without effect
GraphOptimizationLevel = SimpleNamespace(ORT_DISABLE_ALL=0, ORT_ENABLE_BASIC=1, ORT_ENABLE_EXTENDED=2, ORT_ENABLE_ALL=99)
ExecutionMode = SimpleNamespace(ORT_SEQUENTIAL=0, ORT_PARALLEL=1)
RunOptions = SimpleNamespace


@dataclasses.dataclass(slots=True)
class SessionOptions:
    """intra_op_num_threads: 0 is the number of processors. max_shapes: upper bounds, by the name of an input or a result its
    shape, by the name of a dimension its size; a session with bounds of all dynamic inputs is prepared once. The members from
    inter_op_num_threads on are not read."""
    intra_op_num_threads: int = 0
    enable_profiling: bool = False
    profile_file_prefix: str = "nnrt_profile_"
    max_shapes: Dict[str, Union[int, Sequence[int]]] = dataclasses.field(default_factory=dict)
    free_dimensions: Dict[str, int] = dataclasses.field(default_factory=dict)
    inter_op_num_threads: int = 0
    graph_optimization_level: int = 99
    execution_mode: int = 0
    log_severity_level: int = 2
    log_verbosity_level: int = 0
    logid: str = ""
    enable_mem_pattern: bool = True
    enable_mem_reuse: bool = True
    enable_cpu_mem_arena: bool = True

    def add_free_dimension_override_by_name(self, name: str, size: int) -> None:
        """Fixes the dynamic dimensions of this name."""
        self.free_dimensions[name] = size

    def add_session_config_entry(self, name: str, value: str) -> None:
        """Of onnxruntime; nothing is read."""


class NodeArg(NamedTuple):
    """An input or output. A dynamic dimension is its name or None; shape None: the rank is unknown."""
    name: str
    type: str
    shape: Optional[Shape]


class ModelMetadata(NamedTuple):
    """The metadata of a file."""
    custom_metadata_map: Dict[str, str]


def get_available_providers() -> List[str]:
    """The devices, the fastest first."""
    return [name for name in _nnrt.devices()[::-1] if name != "auto"]


def get_device() -> str:
    """Of onnxruntime."""
    return "CPU"


def _devices(providers: Union[str, Sequence[Any], None]) -> List[str]:
    """The devices of names or (name, options). Of onnxruntime's names that of the CPU is known; others are skipped."""
    names = [p if isinstance(p, str) else p[0] for p in ([providers] if isinstance(providers, str) else providers or [])]
    available, chosen = get_available_providers(), []
    for name in names:
        if name in available or name == "CPUExecutionProvider":
            chosen += [name] if name in available else [d for d in ("cpu", "reference") if d in available and d not in names]
            continue
        message = "there is no device '%s'; the devices are %s" % (name, ", ".join(available))
        if not name.endswith("ExecutionProvider"):
            raise ValueError(message)
        warnings.warn(message, stacklevel=3)
    return chosen


def _list(names: Iterable[str]) -> str:
    return ", ".join("'%s'" % name for name in names)


def _explained(error: Exception) -> Exception:
    """The exception, with the names that Python has for members of structs in its text."""
    return type(error)("; here: ".join([str(error)] + [text for part, text in _HERE.items() if part in str(error)]))


def _open(source: Any) -> memoryview:
    """The bytes of a model. A .nnrt or .tflite file is mapped, and its weights are used in place; an ONNX file, which
    exporters overwrite, and bytes are copied, aligned to a page."""
    if isinstance(source, str):
        with open(source, "rb") as file:
            data: Any = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if os.path.getsize(source) else b""
        if data[:5] == b"\x89NNRT" or data[4:8] == b"TFL3":
            return memoryview(data)
        source = data
    pages = mmap.mmap(-1, max(1, len(source)))
    pages[:len(source)] = source
    return memoryview(pages)[:len(source)]


class InferenceSession:
    """A model that is ready to run, with the methods of onnxruntime's class. Any number of threads may call run()."""

    def __init__(self, path_or_bytes: Union[str, bytes, "os.PathLike[str]"], sess_options: Optional[SessionOptions] = None,
                 providers: Optional[Sequence[Any]] = None, provider_options: Any = None, **_unread: Any):
        self._path = os.path.abspath(path_or_bytes) if isinstance(path_or_bytes, (str, os.PathLike)) else None
        self._options, self._providers = sess_options or SessionOptions(), providers
        self._devices, self._pool = _devices(providers), _pool(self._options.intra_op_num_threads)
        self._device = "auto:" + ",".join(self._devices) if self._devices else "auto"
        self._profile: Optional[List[Any]] = [] if self._options.enable_profiling else None
        self._file = _open(self._path or path_or_bytes)
        try:
            self._model, about = _nnrt.load(self._file, os.fsencode(self._path or ""))
        except NotImplementedError as error:
            raise _explained(error) from None
        self._lock = threading.Lock()
        self._plans: List[plan.Plan] = []  # in the order in which a run tries them
        self._sizes: Optional[plan.Limits] = {}  # of every dimension so far, by input; None: no plan for all shapes
        self._lengths: List[plan.Item] = []  # of sequences
        self._parts: Dict[Any, InferenceSession] = {}  # by the lengths of sequences: sessions whose inputs are tensors
        self._describe(*about)
        self._most = self._bounds(self._options.max_shapes)
        if not self._kinds and all(self._fixed(i) or i.name in self._most for i in self._inputs.values()):
            try:
                self._prepare({n: self._open_shape(i.shape or []) for n, i in self._inputs.items()}, {})
            except Exception:  # the first run may know the value of an input that is needed
                if not any(self._may_be_constant(i.shape) for i in self._inputs.values()):
                    raise

    def __getstate__(self) -> Tuple[Any, ...]:
        return self._path or bytes(self._file), self._options, self._providers

    def __setstate__(self, state: Tuple[Any, ...]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def _describe(self, _format: str, ins: Any, outs: Any, metadata: Any, constants: Any) -> None:
        """Lists inputs and outputs, without states and initialized inputs."""
        self._meta = ModelMetadata(dict(metadata))
        states = [line.partition("=") for line in self._meta.custom_metadata_map.get("states", "").splitlines()]
        free = self._options.free_dimensions

        def arguments(tensors: Any, hidden: Any) -> Dict[str, NodeArg]:
            return {name: NodeArg(name, functools.reduce("{1}({0})".format, reversed(around.split()),
                                                         "tensor(%s)" % _TYPES.get(kind, kind)),
                                  [free.get(d, d) for d in dims] if ranked else None)
                    for name, kind, dims, ranked, around in tensors if name not in hidden}
        self._inputs = arguments(ins, {s[0] for s in states} | set(constants))
        self._outputs = arguments(outs, {s[2] for s in states})
        self._index = {name: i for i, name in enumerate(self._outputs)}
        self._types = {i[0]: i[1] for i in ins}
        self._kinds = {t[0]: t[4] for t in [*ins, *outs] if t[4]}  # "seq", "optional", "optional seq"

    @staticmethod
    def _fixed(arg: NodeArg) -> bool:
        return arg.shape is not None and all(isinstance(d, int) for d in arg.shape)

    def _bounds(self, given: Dict[str, Any]) -> Dict[str, Any]:
        """max_shapes by tensors: the sizes of dimensions bound each tensor that has no other dynamic dimension."""
        sizes = {name: int(size) for name, size in given.items() if numpy.ndim(size) == 0}
        tensors = [*self._inputs.values(), *self._outputs.values()]
        known = {d for t in tensors for d in t.shape or [] if isinstance(d, str)}
        for name in sizes:
            if name not in known:
                raise ValueError("max_shapes: '%s' is no dynamic dimension; the model has %s" % (name, _list(sorted(known)) or "none"))
        most = {name: shape for name, shape in given.items() if name not in sizes}
        for t in tensors:
            if t.name not in most and t.shape is not None and any(d in sizes for d in t.shape) and all(
                    isinstance(d, int) or d in sizes for d in t.shape):
                most[t.name] = [d if isinstance(d, int) else sizes[str(d)] for d in t.shape]
        return most

    @staticmethod
    def _open_shape(shape: Sequence[Any]) -> List[int]:
        return [d if isinstance(d, int) else -1 for d in shape]

    def _may_be_constant(self, shape: Optional[Sequence[Any]]) -> bool:
        return shape is not None and len(shape) <= 1 and all(not isinstance(d, int) or d <= _SMALL for d in shape)

    def _plan(self, shapes: Dict[str, Any], constants: Dict[str, Array], bounds: Dict[str, Any],
              limits: Optional[plan.Limits] = None) -> plan.Plan:
        """A new plan. If results lack upper bounds, the fixed shapes of outputs in the file are used. The exception is that of
        the first attempt."""
        inputs = [plan.item(n, constants[n].shape if n in constants else s, constants.get(n)) for n, s in shapes.items()]
        declared: Dict[str, Any] = {o.name: o.shape for o in self._outputs.values() if self._fixed(o)}
        first: Optional[Exception] = None
        for most in bounds, {**declared, **bounds}:
            items = [plan.item(name, shape) for name, shape in most.items() if name not in constants]
            try:
                made = plan.Plan(self._model, inputs + self._lengths, items, self._device, self._pool, self._profile, limits)
                self._memory = made.memory
                return made
            except Exception as error:
                first = first or error
                if "(bounds)" not in str(error):
                    break
        assert first is not None
        raise first

    def _prepare(self, shapes: Dict[str, Any], small: Dict[str, Array]) -> plan.Plan:
        """Prepares the model for these shapes and puts the plan in front. If that fails, the values of the small inputs become
        constants. The exception is that of the first attempt."""
        try:
            made = self._plan(shapes, {}, self._most)
        except Exception as error:
            try:
                if not small:
                    raise
                made = self._plan(shapes, small, self._most)
            except Exception:
                raise _explained(error) from None
        if made.constants:
            self._sizes = None
        elif self._sizes == {}:
            self._sizes = {n: [(d, d) for d in s] for n, s in shapes.items() if n not in self._most}
        self._plans = [made] + self._plans[:_PLANS - 1]
        return made

    def _grow(self, shapes: Dict[str, Any]) -> Optional[plan.Plan]:
        """A plan for these shapes and all before. Dimensions that had more than one size are dynamic. If a size exceeds its
        upper bound, all bounds become 1.5 times the sizes, so that n growing sizes cost O(log n) preparations. The plan of the
        first shape stays: it is faster for it. None: the model or the device refuses, now and for every further shape."""
        old, self._sizes = self._sizes, None
        free = {name: shape for name, shape in shapes.items() if name not in self._most}
        if not old or any(len(shape) != len(old[name]) for name, shape in free.items()):
            return None
        for factor in (1.5, 1) if any(d > high for n, s in free.items() for d, (_, high) in zip(s, old[n])) else (1,):
            sizes = {name: [(min(d, low), max(high, d if d == low == high else int(d * factor)))
                            for d, (low, high) in zip(shape, old[name])] for name, shape in free.items()}
            inputs = {**shapes, **{n: [-1 if low < high else low for low, high in dims] for n, dims in sizes.items()}}
            bounds = {**self._most, **{n: [high for _, high in dims] for n, dims in sizes.items()}}
            try:
                made = self._plan(inputs, {}, bounds, sizes)
            except Exception:  # the caller prepares for the shapes alone
                continue
            self._sizes, self._plans = sizes, [p for p in self._plans if p.limits is None][-1:] + [made]
            return made
        return None

    def _checked(self, input_feed: Any) -> Dict[str, Array]:
        """The inputs as arrays; an exception names the first that is missing, unknown, or has another type or shape."""
        if not isinstance(input_feed, Mapping):
            raise TypeError("the inputs are a %s, expected a dictionary such as {'%s': array}"
                            % (type(input_feed).__name__, next(iter(self._inputs), "x")))
        feeds = dict(input_feed)
        for name in list(self._inputs) + list(feeds):
            if name not in feeds or name not in self._inputs:
                raise ValueError("input '%s' %s; the model has %s" % (name, "does not exist" if name in feeds else "is missing",
                                                                     _list(self._inputs) or "no inputs"))
            array, declared = numpy.asarray(feeds[name]), self._inputs[name].shape
            if array.dtype.newbyteorder("=") != numpy.dtype(self._types[name]):
                raise TypeError("input '%s' has elements of type %s, expected %s: array.astype('%s')"
                                % (name, array.dtype, self._types[name], self._types[name]))
            if declared is not None and (len(declared) != array.ndim or
                                         any(isinstance(d, int) and d != e for d, e in zip(declared, array.shape))):
                raise ValueError("input '%s' has the shape %s, expected %s" % (name, list(array.shape), declared))
            feeds[name] = numpy.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(array.shape)
        return feeds

    def _shapes(self, feeds: Dict[str, Array]) -> Dict[str, Any]:
        """The shapes of the arrays; shapes that max_shapes bounds stay open."""
        return {n: self._open_shape(self._inputs[n].shape or a.shape) if n in self._most else a.shape for n, a in feeds.items()}

    def _run(self, input_feed: Any) -> Any:
        """Runs with a new plan, unless the inputs are wrong. Of threads that need the same plan the first one makes it."""
        feeds = self._checked(input_feed)
        with self._lock:
            made = next((p for p in self._plans if p.fits(feeds)), None)
            if made is None and self._plans:
                made = self._grow(self._shapes(feeds))
            if made is None:
                made = self._prepare(self._shapes(feeds), {n: a.copy() for n, a in feeds.items() if self._may_be_constant(a.shape)})
        return made.run(feeds)

    def _run_alone(self, input_feed: Any) -> Any:
        """Runs with a plan for these shapes, after a run of the plan for all shapes has failed. If that was the reason, none
        is made any more."""
        feeds = self._checked(input_feed)
        with self._lock:
            made = self._plan(self._shapes(feeds), {}, self._most)
            outputs = made.run(feeds)
            self._sizes, self._plans = None, [made] + [p for p in self._plans if p.limits is None][:_PLANS - 1]
        return outputs

    def _part(self, lengths: Tuple[Tuple[str, Optional[int]], ...]) -> "InferenceSession":
        """The session for sequences of these lengths, None: an optional value that is a tensor. Its inputs are tensors."""
        with self._lock:
            if lengths not in self._parts:
                part, known = copy.copy(self), dict(lengths)
                part._lock, part._plans, part._sizes, part._kinds = threading.Lock(), [], {}, {}
                part._lengths = [plan.item(name, [n]) for name, n in lengths if n is not None]
                part._inputs, part._types = {}, dict(self._types)
                for name, arg in self._inputs.items():
                    if name not in self._kinds or known.get(name, 0) is None:
                        part._inputs[name] = arg
                    for key in ("%s[%d]" % (name, i) for i in range(known.get(name) or 0)):  # dimensions of one name may differ
                        shape = arg.shape and [d if isinstance(d, int) else None for d in arg.shape]
                        part._inputs[key], part._types[key] = NodeArg(key, arg.type, shape), self._types[name]
                self._parts[lengths] = part
            return self._parts[lengths]

    def _run_kinds(self, input_feed: Any) -> List[Any]:
        """The outputs of a model with sequences, which are lists of arrays, and optional values, which may be None."""
        feeds: Dict[str, Any] = {}
        lengths: List[Tuple[str, Optional[int]]] = []
        if not isinstance(input_feed, Mapping):
            raise TypeError("the inputs are a %s, expected a dictionary" % type(input_feed).__name__)
        for name, value in input_feed.items():
            kind = self._kinds.get(name, "") if name in self._inputs else ""
            if kind.startswith("optional") and value is None:
                continue
            if kind.endswith("seq") != isinstance(value, (list, tuple)) and kind:
                raise TypeError("input '%s' is %s, expected a %s" % (name, type(value).__name__, "list of arrays" if "seq" in kind else "tensor"))
            if kind:
                lengths.append((name, len(value) if kind.endswith("seq") else None))
            feeds.update({"%s[%d]" % (name, i): v for i, v in enumerate(value)} if kind.endswith("seq") else {name: value})
        for name in self._inputs:
            if self._kinds.get(name) == "seq" and name not in input_feed:
                raise ValueError("input '%s' is missing; the model has %s" % (name, _list(self._inputs)))
        part = self._part(tuple(sorted(lengths)))
        flat = part.run(None, feeds)
        left = list(zip(part._plans[0].results, flat))
        outputs: List[Any] = []
        for name in self._outputs:
            taken = 0
            if self._kinds.get(name, "").endswith("seq"):
                while taken < len(left) and left[taken][0] == "%s[%d]" % (name, taken):
                    taken += 1
                outputs.append([array for _, array in left[:taken]] if taken or self._kinds[name] == "seq" else None)
            else:
                taken = 1 if left and left[0][0] == name else 0
                outputs.append(left[0][1] if taken else None)
            left = left[taken:]
        return outputs

    def _run_tensors(self, input_feed: Any) -> Any:
        """All outputs of a model without sequences and optional values."""
        try:
            for made in self._plans if type(input_feed) is dict and len(input_feed) == len(self._inputs) else []:
                if (outputs := made.run(input_feed)) is not None:
                    return outputs
            return self._run(input_feed)
        except Exception:
            if all(p.limits is None for p in self._plans):
                raise
            return self._run_alone(input_feed)

    def run(self, output_names: Optional[Sequence[str]], input_feed: Dict[str, Any], run_options: Any = None) -> List[Any]:
        """The outputs of these names, None: all. Inputs that are contiguous arrays are used in place; the arrays of the outputs
        are new. A sequence is a list of arrays, an absent optional value None."""
        outputs = self._run_kinds(input_feed) if self._kinds else self._run_tensors(input_feed)
        try:
            return list(outputs) if output_names is None else [outputs[self._index[name]] for name in output_names]
        except KeyError as error:
            raise ValueError("output %s does not exist; the model has %s" % (error, _list(self._outputs))) from None

    def run_with_ort_values(self, output_names: Optional[Sequence[str]], input_dict_ort_values: Dict[str, OrtValue],
                            run_options: Any = None) -> List[OrtValue]:
        """run() with OrtValues."""
        feeds = {name: value.numpy() for name, value in input_dict_ort_values.items()}
        return [OrtValue(output) for output in self.run(output_names, feeds)]

    def io_binding(self) -> IOBinding:
        """A list of inputs and outputs for run_with_iobinding."""
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: Any = None) -> None:
        """Runs with the inputs that are bound, and stores the outputs."""
        names, feeds = iobinding.parts()
        iobinding.take(names, self.run(names, feeds))

    def get_overridable_initializers(self) -> List[NodeArg]:
        """Of onnxruntime: initialized inputs are constants here, none can be overridden."""
        return []

    def get_inputs(self) -> List[NodeArg]:
        """The inputs of the file, without initialized ones and states."""
        return list(self._inputs.values())

    def get_outputs(self) -> List[NodeArg]:
        """The outputs of the file, without states."""
        return list(self._outputs.values())

    def get_modelmeta(self) -> ModelMetadata:
        """The metadata of the file."""
        return self._meta

    def get_providers(self) -> List[str]:
        """The devices of the session; the first one that supports a node runs it."""
        return list(self._devices) or get_available_providers()

    def get_memory(self, shapes: Optional[Dict[str, Sequence[int]]] = None) -> Dict[str, int]:
        """The bytes of a session, before it runs: for these shapes of inputs, or as prepared last. Each thread that runs at
        the same time as others needs one more arena."""
        if shapes is None and self._plans:
            return dict(self._memory)
        all_shapes: Dict[str, Any] = {**{name: i.shape for name, i in self._inputs.items() if self._fixed(i)}, **(shapes or {})}
        if set(all_shapes) != set(self._inputs):
            wrong = set(self._inputs) ^ set(all_shapes)
            raise ValueError("expected the shapes of %s, such as {'x': (1, 3, 224, 224)}" % _list(wrong))
        with self._lock:
            return dict(self._prepare(all_shapes, {}).memory)

    def reset(self) -> None:
        """Sets the states of the session to their initial values."""
        for made in self._plans:
            made.reset()

    def end_profiling(self) -> str:
        """Writes the steps of all runs as Chrome trace events; returns the path of the file."""
        path = self._options.profile_file_prefix + time.strftime("_%Y-%m-%d_%H-%M-%S.json")
        events = [{"cat": "Node", "ph": "X", "pid": os.getpid(), "tid": depth, "ts": begin / 1e3, "dur": duration / 1e3,
                   "name": name, "args": {"op_name": op, "provider": device, "node_index": node, "input_size": read,
                                          "output_size": written}}
                  for name, op, device, node, depth, begin, duration, read, written in self._profile or []]
        with open(path, "w", encoding="utf-8") as file:
            json.dump(events, file)
        return path

"""Neural networks of ONNX, TensorFlow Lite and .nnrt files, with the interface of onnxruntime: import nnrt as ort."""
import dataclasses
import functools
import json
import mmap
import os
import threading
import time
import warnings
from types import SimpleNamespace
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy

from . import _nnrt, plan
from ._nnrt import InvalidModel, load_driver
from .tools import compare, convert, emit_c, quantize

__version__: str = _nnrt.version
__all__ = ["ExecutionMode", "GraphOptimizationLevel", "InferenceSession", "InvalidModel", "ModelMetadata", "NodeArg",
           "RunOptions", "SessionOptions", "compare", "convert", "emit_c", "get_available_providers", "get_device",
           "load_driver", "quantize"]
_PLANS = 4  # that a session keeps: those of the last shapes
_SMALL = 64  # elements of an input that may be a parameter of the graph (axes, a shape)
_TYPES = {**{t: t for t in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16")},
          "float32": "float", "float64": "double"}  # numpy's names: those of ONNX
_HERE = {"(bounds)": "SessionOptions.max_shapes has upper bounds", "nnrt_onnx_desc.path": "pass the path, not the bytes"}
_pool = functools.lru_cache(maxsize=None)(_nnrt.make_pool)  # sessions with the same number of threads share a thread pool
Shape = List[Union[int, str, None]]
Array = numpy.ndarray[Any, Any]
# of onnxruntime, without effect
GraphOptimizationLevel = SimpleNamespace(ORT_DISABLE_ALL=0, ORT_ENABLE_BASIC=1, ORT_ENABLE_EXTENDED=2, ORT_ENABLE_ALL=99)
ExecutionMode = SimpleNamespace(ORT_SEQUENTIAL=0, ORT_PARALLEL=1)
RunOptions = SimpleNamespace


@dataclasses.dataclass(slots=True)
class SessionOptions:
    """intra_op_num_threads: 0 is the number of processors. max_shapes: upper bounds by the name of an input or a result; a
    session with bounds of all dynamic inputs is prepared once. The members from inter_op_num_threads on are not read."""
    intra_op_num_threads: int = 0
    enable_profiling: bool = False
    profile_file_prefix: str = "nnrt_profile_"
    max_shapes: Dict[str, Sequence[int]] = dataclasses.field(default_factory=dict)
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


def _open(source: Any) -> Tuple[memoryview, Tuple[Any, ...]]:
    """The bytes of a model, and their description. A .nnrt or .tflite file is mapped, and its weights are used in place; an
    ONNX file, which exporters overwrite, and bytes are copied, aligned to a page."""
    if isinstance(source, str):
        with open(source, "rb") as file:
            data: Any = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if os.path.getsize(source) else b""
        about = _nnrt.describe(memoryview(data))
        if about[0] != "onnx":
            return memoryview(data), about
        source = data
    copy = mmap.mmap(-1, max(1, len(source)))
    copy[:len(source)] = source
    view = memoryview(copy)[:len(source)]
    return view, _nnrt.describe(view)


class InferenceSession:
    """A model that is ready to run, with the methods of onnxruntime's class. Any number of threads may call run()."""

    def __init__(self, path_or_bytes: Union[str, bytes, "os.PathLike[str]"], sess_options: Optional[SessionOptions] = None,
                 providers: Optional[Sequence[Any]] = None, provider_options: Any = None, **_unread: Any):
        self._path = os.path.abspath(path_or_bytes) if isinstance(path_or_bytes, (str, os.PathLike)) else None
        self._options, self._providers = sess_options or SessionOptions(), providers
        self._devices, self._pool = _devices(providers), _pool(self._options.intra_op_num_threads)
        self._device = "auto:" + ",".join(self._devices) if self._devices else "auto"
        self._profile: Optional[List[Any]] = [] if self._options.enable_profiling else None
        self._file, about = _open(self._path or path_or_bytes)
        self._lock = threading.Lock()
        self._plans: List[plan.Plan] = []
        self._describe(*about)
        if all(self._fixed(i) or i.name in self._options.max_shapes for i in self._inputs.values()):
            try:
                self._prepare({n: self._open_shape(i.shape or []) for n, i in self._inputs.items()}, {})
            except NotImplementedError:  # the value of an input may be needed
                if not any(self._may_be_constant(i.shape) for i in self._inputs.values()):
                    raise

    def __getstate__(self) -> Tuple[Any, ...]:
        return self._path or bytes(self._file), self._options, self._providers

    def __setstate__(self, state: Tuple[Any, ...]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def _describe(self, kind: str, ins: Any, outs: Any, metadata: Any, constants: Any) -> None:
        """Lists inputs and outputs, without states and initialized inputs."""
        self._kind = kind
        self._meta = ModelMetadata(dict(metadata))
        states = [line.partition("=") for line in self._meta.custom_metadata_map.get("states", "").splitlines()]
        free = self._options.free_dimensions

        def arguments(tensors: Any, hidden: Any) -> Dict[str, NodeArg]:
            return {name: NodeArg(name, "tensor(%s)" % _TYPES.get(kind, kind),
                                  [free.get(d, d) for d in dims] if ranked else None)
                    for name, kind, dims, ranked in tensors if name not in hidden}
        self._inputs = arguments(ins, {s[0] for s in states} | set(constants))
        self._outputs = arguments(outs, {s[2] for s in states})
        self._index = {name: i for i, name in enumerate(self._outputs)}
        self._types = {i[0]: i[1] for i in ins}
        if not set(self._types.values()) <= set(_TYPES):
            _nnrt.load(self._file, b"", [])  # names the input that is no tensor, or has strings
        self._dims = [(i[0], [-1 if d is None else d for d in i[2]]) for i in ins] if kind == "nnrt" else []

    @staticmethod
    def _fixed(arg: NodeArg) -> bool:
        return arg.shape is not None and all(isinstance(d, int) for d in arg.shape)

    @staticmethod
    def _open_shape(shape: Sequence[Any]) -> List[int]:
        return [d if isinstance(d, int) else -1 for d in shape]

    def _may_be_constant(self, shape: Optional[Sequence[Any]]) -> bool:
        return (self._kind == "onnx" and shape is not None and len(shape) <= 1 and
                all(not isinstance(d, int) or d <= _SMALL for d in shape))

    def _prepare(self, shapes: Dict[str, Any], small: Dict[str, Array]) -> plan.Plan:
        """Prepares the model for these shapes and puts the plan in front. If results lack upper bounds, the fixed shapes of
        outputs in the file are used; if the model needs the values of inputs, those of the small ones are constants."""
        given: Dict[str, Any] = dict(self._options.max_shapes)
        declared: Dict[str, Any] = {o.name: o.shape for o in self._outputs.values() if self._fixed(o)}
        dims = b"".join(plan.item(name, shapes.get(name, shape))[1] for name, shape in self._dims)
        none: Dict[str, Array] = {}
        message = ""
        for constants in [none, small] if small else [none]:
            inputs = [plan.item(n, constants[n].shape if n in constants else s, constants.get(n)) for n, s in shapes.items()]
            for most in given, {**declared, **given}:
                bounds = [plan.item(name, shape) for name, shape in most.items() if name not in constants]
                try:
                    made = plan.Plan(self._file, os.fsencode(self._path or ""), inputs, dims, bounds, self._device,
                                     self._pool, self._profile)
                    self._plans = [made] + self._plans[:_PLANS - 1]
                    return made
                except NotImplementedError as error:
                    message = message or str(error)
                    if "(bounds)" not in str(error):
                        break
        raise NotImplementedError("; here: ".join([message] + [text for part, text in _HERE.items() if part in message]))

    def _checked(self, input_feed: Any) -> Dict[str, Array]:
        """The inputs as arrays; an exception names the first that is missing, unknown, or has another type or shape."""
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

    def _run(self, input_feed: Any) -> Any:
        """Runs with a new plan, unless the inputs are wrong. Of threads that need the same plan the first one makes it."""
        feeds, most = self._checked(input_feed), self._options.max_shapes
        with self._lock:
            made = next((p for p in self._plans if p.fits(feeds)), None) or self._prepare(
                {n: self._open_shape(self._inputs[n].shape or a.shape) if n in most else a.shape for n, a in feeds.items()},
                {n: a.copy() for n, a in feeds.items() if self._may_be_constant(a.shape)})
        return made.run(feeds)

    def run(self, output_names: Optional[Sequence[str]], input_feed: Dict[str, Any], run_options: Any = None) -> List[Array]:
        """The outputs of these names, None: all. Inputs that are contiguous arrays are used in place; the arrays of the outputs
        are new."""
        for made in self._plans if type(input_feed) is dict and len(input_feed) == len(self._inputs) else []:
            if (outputs := made.run(input_feed)) is not None:
                break
        else:
            outputs = self._run(input_feed)
        try:
            return list(outputs) if output_names is None else [outputs[self._index[name]] for name in output_names]
        except KeyError as error:
            raise ValueError("output %s does not exist; the model has %s" % (error, _list(self._outputs))) from None

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
            return dict(self._plans[0].memory)
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

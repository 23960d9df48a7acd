"""OrtValue and IOBinding, with the methods of onnxruntime's classes: arrays in the memory of the process."""
import ctypes
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy

Array = numpy.ndarray[Any, Any]
_NAMES = {"float32": "float", "float64": "double"}  # numpy's names: those of ONNX


def _here(device_type: str) -> None:
    if device_type.lower() != "cpu":
        raise ValueError("device '%s': arrays are in the memory of the process, expected 'cpu'" % device_type)


def _at(address: int, element_type: Any, shape: Sequence[int]) -> Array:
    """The memory at an address as an array."""
    dtype = numpy.dtype(element_type)
    count = int(numpy.prod(shape, dtype=numpy.int64))
    block = (ctypes.c_char * (count * dtype.itemsize)).from_address(address) if count > 0 else b""
    return numpy.frombuffer(block, dtype, count).reshape(shape)


class OrtValue:
    """A tensor: an array that is used in place."""

    def __init__(self, array: Array):
        self._array = array

    @staticmethod
    def ortvalue_from_numpy(numpy_obj: Any, device_type: str = "cpu", device_id: int = 0) -> "OrtValue":
        """A tensor of these elements; an array is used in place."""
        _here(device_type)
        return OrtValue(numpy.asarray(numpy_obj))

    @staticmethod
    def ortvalue_from_shape_and_type(shape: Sequence[int], element_type: Any, device_type: str = "cpu",
                                     device_id: int = 0) -> "OrtValue":
        """A tensor of this shape and numpy type, whose elements are not set."""
        _here(device_type)
        return OrtValue(numpy.empty(shape, element_type))

    def numpy(self) -> Array:
        """The array."""
        return self._array

    def update_inplace(self, np_arr: Any) -> None:
        """Sets the elements."""
        self._array[...] = np_arr

    def shape(self) -> List[int]:
        """The dimensions."""
        return list(self._array.shape)

    def data_type(self) -> str:
        """The type of the elements, such as tensor(float)."""
        return "tensor(%s)" % _NAMES.get(self._array.dtype.name, self._array.dtype.name)

    def data_ptr(self) -> int:
        """The address of the first element."""
        return int(self._array.ctypes.data)

    def device_name(self) -> str:
        """Where the elements are."""
        return "cpu"

    def is_tensor(self) -> bool:
        """Other kinds of values are not supported."""
        return True

    def has_value(self) -> bool:
        """An OrtValue has one."""
        return True


class IOBinding:
    """Inputs and outputs of InferenceSession.run_with_iobinding. An output that is bound to memory is copied there."""

    def __init__(self, session: Any):
        self._session = session
        self._feeds: Dict[str, Array] = {}
        self._wanted: Dict[str, Optional[Array]] = {}
        self._results: List[OrtValue] = []

    def bind_cpu_input(self, name: str, arr_on_cpu: Any) -> None:
        """The input is this array."""
        self._feeds[name] = numpy.asarray(arr_on_cpu)

    def bind_input(self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int],
                   buffer_ptr: int) -> None:
        """The input is at an address, which must stay valid."""
        _here(device_type)
        self._feeds[name] = _at(buffer_ptr, element_type, shape)

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        """The input is this tensor."""
        self._feeds[name] = ortvalue.numpy()

    def bind_output(self, name: str, device_type: str = "cpu", device_id: int = 0, element_type: Any = None,
                    shape: Optional[Sequence[int]] = None, buffer_ptr: Optional[int] = None) -> None:
        """The output is wanted: in a new array, or at an address that has room for this shape."""
        _here(device_type)
        self._wanted[name] = None if buffer_ptr is None else _at(buffer_ptr, element_type, shape or [])

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        """The output is written into this tensor, which has its type and shape."""
        self._wanted[name] = ortvalue.numpy()

    def clear_binding_inputs(self) -> None:
        """Forgets the inputs."""
        self._feeds = {}

    def clear_binding_outputs(self) -> None:
        """Forgets the outputs."""
        self._wanted, self._results = {}, []

    def synchronize_inputs(self) -> None:
        """Of onnxruntime: nothing is copied in the background."""

    def synchronize_outputs(self) -> None:
        """Of onnxruntime: nothing is copied in the background."""

    def get_outputs(self) -> List[OrtValue]:
        """The outputs of the last run, in the order in which they were bound."""
        return self._results

    def copy_outputs_to_cpu(self) -> List[Array]:
        """The outputs of the last run as arrays."""
        return [value.numpy() for value in self._results]

    def parts(self) -> Tuple[List[str], Dict[str, Array]]:
        """The names of the outputs, none: all of the model; and the inputs."""
        return list(self._wanted) or [o.name for o in self._session.get_outputs()], self._feeds

    def take(self, names: Sequence[str], outputs: Sequence[Array]) -> None:
        """Stores the outputs of a run."""
        results = []
        for name, output in zip(names, outputs):
            room = self._wanted.get(name)
            if room is not None and (room.dtype != output.dtype or room.shape != output.shape):
                raise ValueError("output '%s' is %s%s, but is bound to %s%s"
                                 % (name, output.dtype, list(output.shape), room.dtype, list(room.shape)))
            if room is not None:
                room[...] = output
            results.append(OrtValue(output if room is None else room))
        self._results = results

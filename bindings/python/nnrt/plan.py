"""The sessions of a model that are prepared for some input shapes."""
import operator
import threading
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy

from . import _nnrt

OPEN_ROOM = 2 << 20  # elements at first of an output with dynamic dimensions, whose upper bound may be far larger
Array = numpy.ndarray[Any, Any]
Item = Tuple[str, bytes, Optional[Array]]
Limits = Dict[str, List[Tuple[int, int]]]  # the smallest and the largest size of each dimension, by input


def item(name: str, shape: Sequence[int], constant: Optional[Array] = None) -> Item:
    """A shape as _nnrt reads it: the bytes of an nnrt_dims."""
    shape = [operator.index(d) for d in shape]
    if len(shape) > 8 or any(not -1 <= d < 2**31 for d in shape):
        raise ValueError("'%s' has the shape %s, expected at most 8 axes of at most 2147483647" % (name, shape))
    return name, numpy.array([len(shape), *shape] + [0] * (8 - len(shape)), numpy.int32).tobytes(), constant


def template(dtype: Any, shape: Sequence[int]) -> Array:
    """An array of this type and shape, without the memory."""
    return numpy.broadcast_to(numpy.empty((), dtype), shape)


def same(a: Any, b: Array) -> bool:
    """True for the same type, shape and bytes."""
    a = numpy.asarray(a)
    return bool(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())


class Plan:
    """A model, prepared for shapes, in which -1 is a dimension with an upper bound, and for values of constants. limits: of
    shapes that the plan takes, if another plan takes larger ones; None: run() refuses a dimension above its upper bound."""

    def __init__(self, model: Any, inputs: List[Item], bounds: List[Item], device: str, pool: Any,
                 profile: Optional[List[Any]], limits: Optional[Limits] = None):
        self.constants = {name: value for name, _, value in inputs if value is not None}
        self.context, self.limits = (model, pool, profile), limits
        self.first = _nnrt.session(self.context, device, inputs, bounds, None)
        self.idle = [self.first]
        self.returned, self.waited = threading.Condition(), False  # waited: a thread has waited for the first session
        ins, outs, self.memory, self.states = _nnrt.inspect(self.first)
        self.names, self.results = tuple(i[0] for i in ins), tuple(o[0] for o in outs)
        self.inputs = tuple(template(i[1], i[2]) for i in ins)
        self.open = any(i[3] for i in ins)
        self.bounds = [o[4] // numpy.dtype(o[1]).itemsize if o[3] else -1 for o in outs]  # elements, if dimensions are dynamic
        self.outputs = tuple(template(o[1], o[2] if b < 0 else [min(b, OPEN_ROOM)]) for o, b in zip(outs, self.bounds))
        self.any_open = max(self.bounds, default=-1) >= 0

    def take(self) -> Any:
        """An idle session; if all are busy, another one, so that each thread has a workspace of its own, or, if the model
        has states or the device cannot share a prepared model, the first one to become idle."""
        try:
            return self.idle.pop()
        except IndexError:
            pass
        try:
            if self.states == 0:
                return _nnrt.session(self.context, None, [], [], self.first)
        except NotImplementedError:
            pass
        with self.returned:
            self.waited = True
            while True:
                try:
                    return self.idle.pop()
                except IndexError:  # also if take() of another thread was faster
                    self.returned.wait()

    def give(self, session: Any) -> None:
        """The session is idle again."""
        self.idle.append(session)
        if self.waited:
            with self.returned:
                self.returned.notify()

    def within(self, feeds: Dict[str, Any]) -> bool:
        """True if the limits allow all shapes."""
        for name, limits in (self.limits or {}).items():
            shape = numpy.shape(feeds.get(name))
            if len(shape) != len(limits) or any(d > high or (d < low == high) for d, (low, high) in zip(shape, limits)):
                return False
        return True

    def fits(self, feeds: Dict[str, Array]) -> bool:
        """True if run() takes these arrays, or refuses a dimension above its upper bound."""
        return (all(same(feeds[name], value) for name, value in self.constants.items()) and self.within(feeds) and
                all(feeds[name].ndim == t.ndim if self.open else feeds[name].shape == t.shape
                    for name, t in zip(self.names, self.inputs)))

    def run(self, feeds: Dict[str, Any]) -> Any:
        """All outputs, or None if an input is not as planned. Buffers of outputs with dynamic dimensions grow as needed."""
        for name, value in self.constants.items():
            if not same(feeds.get(name), value):
                return None
        if self.limits is not None and not self.within(feeds):
            return None
        session, outputs = self.take(), self.outputs
        try:
            while (got := _nnrt.run(session, self.names, self.inputs + outputs, self.open, feeds)) is False:
                if all(o.size >= b for o, b in zip(outputs, self.bounds)):
                    raise RuntimeError("an output exceeds its upper bound")
                outputs = tuple(o if b < 0 else template(o.dtype, [min(4 * o.size, b)]) for o, b in zip(outputs, self.bounds))
            if got and self.any_open:
                for array, bound, output in zip(got, self.bounds, _nnrt.inspect(session)[1]):
                    if bound >= 0:
                        array.resize(output[2], refcheck=False)
        finally:
            self.give(session)
        return got

    def reset(self) -> None:
        """The states get their initial values."""
        session = self.take()
        _nnrt.reset(session)
        self.give(session)

"""The interface onnx.backend: prepare(model).run(inputs), run_model, supports_device."""
from typing import Any

from onnx.backend.base import Backend, BackendRep, namedtupledict

from . import InferenceSession


class NnrtRep(BackendRep):
    """A prepared model."""

    def __init__(self, session: InferenceSession):
        self.session = session

    def run(self, inputs: Any, **kwargs: Any) -> Any:
        """The outputs, as a tuple whose members have their names. inputs: by position, or a dictionary."""
        names = [i.name for i in self.session.get_inputs()]
        feeds = inputs if isinstance(inputs, dict) else dict(zip(names, inputs))
        outputs = self.session.run(None, feeds)
        return namedtupledict("Outputs", [o.name for o in self.session.get_outputs()])(*outputs)


class NnrtBackend(Backend):
    """nnrt as a backend of onnx."""

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **kwargs: Any) -> NnrtRep:
        """model: a ModelProto or its bytes."""
        return NnrtRep(InferenceSession(model if isinstance(model, bytes) else model.SerializeToString(), **kwargs))

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """True for the CPU."""
        return device == "CPU"


prepare = NnrtBackend.prepare
run_model = NnrtBackend.run_model
supports_device = NnrtBackend.supports_device

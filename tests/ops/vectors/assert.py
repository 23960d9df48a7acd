"""ASSERT."""
import numpy as np

from common import as_tensor, data, floats, Tensor, TYPES, write


def make(w):
    t, f, true = np.array(True), np.array(False), np.array(True)
    x = floats(2, 3)

    def holds(name, condition, *more, **attrs):
        assert as_tensor(condition).array.all()
        w.case(name, "ASSERT", attrs, [condition, *more], [true])

    def fails(name, condition, *more, **attrs):
        assert not as_tensor(condition).array.all()
        w.case(name, "ASSERT", attrs, [condition, *more], [true], run_error="FAILED")

    holds("a scalar", t, x)
    holds("one element", t.reshape(1), x)
    holds("several elements", np.ones((2, 3, 2), bool), x)
    holds("rank 8", np.ones((1, 2, 1, 2, 1, 2, 1, 2), bool), x, summarize=3)
    holds("nothing", np.ones((2, 0), bool), x)
    holds("no data", t)
    holds("no elements of data", t, floats(0, 2), summarize=2)
    holds("data absent", t, None, x)
    holds("summarize", t, x, summarize=4)
    holds("a large summarize", t, x, summarize=2**31 - 1)
    holds("a constant", Tensor(t, True), Tensor(x, True))
    holds("quantised data", t, Tensor(np.array([1, 2], np.int8), quant=[(8, 0, 0.5)]), summarize=2)
    for summarize in (0, 1, 2**31 - 1):
        fails("a false scalar, %d" % summarize, f, x, summarize=summarize)
    fails("one false element", np.array([True, True, False]), x, summarize=2)
    fails("the first is false", np.array([[False, True], [True, True]]), x)
    fails("the last is false", np.arange(2**8).reshape((2,) * 8) != 255, x)
    fails("all are false", np.zeros((2, 3), bool), x)
    fails("false without data", f)
    fails("false, data absent", f, None, x, None, summarize=2)
    fails("false, no elements of data", f, floats(3, 0), summarize=2)
    fails("false, a constant", Tensor(f, True), Tensor(x, True), summarize=2)
    fails("false, quantised data", f, Tensor(np.array([1, 2], np.int8), quant=[(8, 0, 0.5)]), summarize=2)
    every = [data(name, (2, 2), 2) for name in TYPES]
    holds("data of every type", t, *every, summarize=3)
    fails("false, data of every type", f, *every, summarize=3)
    for name in TYPES:
        fails("false, data of type " + name, f, data(name, (2, 3), 2), summarize=5)

    def bad(name, code, ins, outs=(true,), **attrs):
        w.case("refused: " + name, "ASSERT", attrs, ins, outs, error=code)

    bad("negative summarize", "INVALID_PARAMETER", [t, x], summarize=-1)
    bad("condition of int32", "INVALID_DATATYPE", [np.array(1, np.int32), x])
    bad("condition of float32", "INVALID_DATATYPE", [x, x])
    bad("quantised condition", "UNSUPPORTED_OP", [Tensor(np.array([1], np.int8), quant=[(8, 0, 0.5)]), x])
    bad("result of int32", "INVALID_DATATYPE", [t, x], [np.array(1, np.int32)])
    bad("two results", "INVALID_OUTPUT", [t, x], [true, true])
    bad("no input", "INVALID_INPUT", [])
    bad("condition absent", "NULL_PTR", [None, x])


if __name__ == "__main__":
    write(make, "Expected values: there is one, true.")

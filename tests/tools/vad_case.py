#!/usr/bin/env python3
"""vad_case.py FOLDER: writes networks with the inputs and outputs of Silero VAD, sounds, and the expected results, for the test of
examples/vad.

loud.onnx computes, in float32 and with an If on sr like Silero's,

    level = mean |input|, over the context and the piece
    stateN = (state + level) / 2
    output = gain * mean(stateN)        gain is 4 at 16 kHz, 8 at any other rate

nan.onnx and huge.onnx have other gains: NaN, and 1e30. wide.onnx has another state, other.onnx no state.

loud16.wav and loud8.wav: a second of silence, 1.5 s of samples of 8192 and -8192 in turn, 2 s of silence, 0.1 s, 0.5 s of silence,
the last 1 s to the end, in whole pieces. In spike.wav only the second of 100 pieces is not silent. NAME.probabilities has the outputs
for NAME.wav, NAME.speech the lines of the program.
"""
import sys
import wave

import numpy as np
from onnx import TensorProto, helper, save

FOLDER = sys.argv[1] + "/"
THRESHOLD, HYSTERESIS, LEAST_PAUSE, LEAST_SPEECH = 0.5, 0.15, 0.4, 0.25
PARTS = ((1.0, 0), (1.5, 8192), (2.0, 0), (0.1, 8192), (0.5, 0), (1.012, 8192))  # seconds, amplitude


def write_network(name, gains=(4, 8), width=128):
    node, info, kinds = helper.make_node, helper.make_tensor_value_info, TensorProto

    def branch(label, gain):
        value = helper.make_tensor(label + ".gain", kinds.FLOAT, [], [gain])
        nodes = [node("Constant", [], [label + ".gain"], value=value), node("Mul", ["mean", label + ".gain"], [label + ".output"])]
        return helper.make_graph(nodes, label, [], [info(label + ".output", kinds.FLOAT, ["batch", 1])])

    constants = [helper.make_tensor("rate", kinds.INT64, [], [16000]), helper.make_tensor("half", kinds.FLOAT, [], [0.5])]
    nodes = [node("Abs", ["input"], ["size"]), node("ReduceMean", ["size"], ["level"], axes=[1], keepdims=1),
             node("Add", ["state", "level"], ["sum"]), node("Mul", ["sum", "half"], ["stateN"]),
             node("ReduceMean", ["stateN"], ["mean0"], axes=[0], keepdims=0), node("ReduceMean", ["mean0"], ["mean"], axes=[1], keepdims=1),
             node("Equal", ["sr", "rate"], ["is16"]),
             node("If", ["is16"], ["output"], then_branch=branch("then", gains[0]), else_branch=branch("else", gains[1]))]
    inputs = [info("input", kinds.FLOAT, [None, None]), info("state", kinds.FLOAT, [2, None, width]), info("sr", kinds.INT64, [])]
    outputs = [info("output", kinds.FLOAT, [None, 1]), info("stateN", kinds.FLOAT, [2, None, width])]
    model = helper.make_model(helper.make_graph(nodes, "vad", inputs, outputs, constants), opset_imports=[helper.make_opsetid("", 16)])
    model.ir_version = 8
    save(model, FOLDER + name)


def write_other(name):
    value = lambda label: helper.make_tensor_value_info(label, TensorProto.FLOAT, [1, 576])
    graph = helper.make_graph([helper.make_node("Abs", ["input"], ["output"])], "other", [value("input")], [value("output")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)])
    model.ir_version = 8
    save(model, FOLDER + name)


def probabilities(samples, rate, gain):
    """By the formula above, piece by piece."""
    context, piece, state = rate // 250, rate // 1000 * 32, 0.0
    heard = np.concatenate([np.zeros(context), samples / 32768, np.zeros(-len(samples) % piece)])
    for at in range(0, len(heard) - context, piece):
        state = (state + np.abs(heard[at:at + context + piece]).mean()) / 2
        yield gain * state


def speech(values, seconds, length):
    """Lines of the program: maximal runs of pieces that begin at the threshold, without a pause of LEAST_PAUSE."""
    last = None
    for k, value in enumerate([*values, *[0] * 99]):
        if last is not None and (k + 1 - last) * seconds >= LEAST_PAUSE:
            if min(last * seconds, length) - first * seconds >= LEAST_SPEECH:
                yield "speech %8.2f s to %8.2f s\n" % (first * seconds, min(last * seconds, length))
            last = None
        if last is None and value >= THRESHOLD:
            first = k
        if value >= THRESHOLD or (last is not None and value >= THRESHOLD - HYSTERESIS):
            last = k + 1


def write_sound(name, rate, gain, parts=PARTS):
    level = np.concatenate([np.full(round(seconds * rate), size) for seconds, size in parts])
    samples = np.where(np.arange(len(level)) % 2, level, -level).astype("<i2")
    with wave.open(FOLDER + name + ".wav", "wb") as file:
        file.setparams((1, 2, rate, 0, "NONE", ""))
        file.writeframes(samples.tobytes())
    values = list(probabilities(samples, rate, gain))
    with open(FOLDER + name + ".probabilities", "w") as file:
        file.writelines("%.9g\n" % value for value in values)
    with open(FOLDER + name + ".speech", "w") as file:
        file.writelines(speech(values, 0.032, len(samples) / rate))


write_network("loud.onnx")
write_network("nan.onnx", (np.nan, np.nan))
write_network("huge.onnx", (1e30, 1e30))
write_network("wide.onnx", width=64)
write_other("other.onnx")
write_sound("loud16", 16000, 4)
write_sound("loud8", 8000, 8)
write_sound("spike", 16000, 4, ((0.032, 0), (0.032, 8192), (3.136, 0)))

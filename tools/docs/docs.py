#!/usr/bin/env python3
"""Writes docs/OPERATORS.md, docs/ONNX.md, docs/TFLITE.md, docs/API.md and packaging/nnrt.1; with --check compares them with the
files.
`operators` also writes the number of operators into README.md and docs/models.md.

usage: docs.py [--nnrt build/nnrt] [--vectors build/test/device_vectors] [--check] operators
       docs.py [--nnrt build/nnrt] [--check] onnx LOG      LOG: the output of tests/formats/onnx_nodes.c
       docs.py [--nnrt build/nnrt] [--check] man
       docs.py [--nnrt build/nnrt] [--check] tflite
       docs.py [--check] api

The manual page is the output of --help of nnrt and of its commands. Names and numbers of operators, types and kernels come
from `nnrt ops`, the mapping of ONNX operators from `nnrt ops --onnx`, the operators of the example device from the top of
examples/device/device.h, the element types of the kernels of the device cpu from that device (device_vectors --kernels).
docs/names.tsv maps operators to names and numbers in the application interface of OpenHarmony (ohnn) and in NNAdapter
(nnadapter), and notes where their form differs. docs/API.md has the functions that the headers declare, with the first
sentences of the comments above them.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]


def table(head, rows):
    """A table of Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| %s |" % " | ".join(cell.replace("|", "\\|") for cell in row) for row in rows]) + "\n"


def listed(nnrt, *how):
    """The operators that `nnrt ops` lists."""
    return json.loads(subprocess.run([nnrt, "ops", "--json", *how], check=True, capture_output=True).stdout)["operators"]


def sets_text(operator):
    """The operator sets of an operator of ONNX: '7 to 22'; '' for other domains."""
    return "" if operator["name"].startswith(("com.microsoft.", "ai.onnx.ml.")) else "%d to %d" % tuple(operator["sets"])


# ---- the operators ----

def types_text(types):
    """Element types as text: "any", "integers" and "floats" for complete groups."""
    plain, text = [t for t in types if not t.startswith("q")], []
    for word, all_of in (("any", INTEGERS + FLOATS + ["bool"]), ("integers", INTEGERS), ("floats", FLOATS)):
        if set(all_of) <= set(plain):
            text.append(word)
            plain = [t for t in plain if t not in all_of]
    return ", ".join(text + plain)


def quantized_text(operator):
    """The support of an operator for quantized tensors."""
    if any(kernel.endswith("_q8") for kernel in operator["kernels"]):
        wide = any(kernel.endswith("_q16") for kernel in operator["kernels"])
        return "8 bits%s, in integers" % (" or int16" if wide else "")
    return "as it is" if any(t.startswith("q") for t in operator["types"]) else ""


def other_names():
    """{operator: {system: names}} of docs/names.tsv."""
    names = collections.defaultdict(lambda: collections.defaultdict(list))
    for line in (ROOT / "docs/names.tsv").read_text(encoding="ascii").splitlines()[1:]:
        system, name, number, operator, _ = line.split("\t")
        names[operator][system].append(name + (" (%s)" % number if number != "-" else ""))
    return names


def cpu_kernels(vectors):
    """{operator: element types of the kernels of the device cpu}, for the instruction set that every compiler has."""
    files = sorted((ROOT / "tests/ops/vectors").glob("*.vec"))
    lines = subprocess.run([vectors, "--kernels", "vector", *files], check=True, capture_output=True, text=True).stdout
    return {name: types.split(",") for name, types in (line.split("\t") for line in lines.splitlines())}


def operators_md(nnrt, vectors):
    """docs/OPERATORS.md."""
    operators, names, cpu = listed(nnrt), other_names(), cpu_kernels(vectors)
    onnx = collections.defaultdict(list)
    for operator in listed(nnrt, "--onnx"):
        for name in operator["becomes"].split():
            onnx[name].append(("%s %s" % (operator["name"], sets_text(operator))).strip())
    device = (ROOT / "examples/device/device.h").read_text(encoding="ascii").split("*/")[0]
    example = set(re.findall(r"^ {7}([A-Z0-9_]+)  ", device, re.M))
    known = {operator["name"] for operator in operators}
    unknown = (set(names) | example) - known
    if unknown:
        raise SystemExit("unknown operators: %s" % " ".join(sorted(unknown)))
    rows, count = [], collections.Counter()
    for operator in operators:
        name, since = operator["name"], operator["since"]
        row = [str(operator["number"]), "`%s`" % name, "`%s` -> `%s`" % (operator["inputs"], operator["outputs"]), "%d.%d" % divmod(since, 10) if since else "",
               ", ".join(names[name]["ohnn"]), ", ".join(names[name]["nnadapter"]), ", ".join(onnx[name]),
               types_text(operator["types"]), quantized_text(operator),
               ", ".join(["reference"] + ["example"] * (name in example) +
                         (["cpu: " + " ".join(cpu[name])] if name in cpu else []))]
        count.update(column for column, cell in enumerate(row) if cell)
        count["q8"] += row[8].startswith("8")
        rows.append(row)
    return """# Operators

This page has all %d operators, in the order of their numbers. `make docs` writes this page.

| System | Operators | Columns |
|---|---|---|
| HDI | %d | the device interface of OpenHarmony, with the same names and numbers; the first version with the operator |
| OH_NN | %d | the application interface of OpenHarmony; name and number there |
| NNAdapter | %d | name and number there |
| ONNX | %d | the operators that map to this one, with their operator sets; `nnrt ops --onnx` lists all mappings |

Operands: inputs and outputs with their shapes and types. `?` is optional, `*` repeated. In brackets: capital letters are
dimensions, equal ones of one name; digits are fixed ones; `..` are any number of axes, `..^` axes that broadcast, `.` is one
element of any rank; without brackets the shape rule decides. After that: `=k` the type of input k, `:i` int32 or int64, `:f`
float16 or float32, `:n` numbers, `:b` bool, `:8` int8 or uint8, `:s`, `:w` the same as int32, int32 or int64, also
quantized, `:.` by attributes or by the model. Images are in the order [N,H,W,C], whatever the format of the model.

Types: the element types of input 0. Quantized: %d operators compute quantized int8 and uint8 tensors in integers ("8 bits,
in integers"; "or int16": int16, too, with int8 weights); operators marked "as it is" accept quantized tensors and move, compare or convert their elements; all others
refuse quantized tensors. Devices: `reference` computes every operator. `cpu` has kernels of its own for these types of
input 0 (prefix `q`: quantized) in at least one case of tests/ops/vectors, and `example` is the device of examples/device; both
leave other operators and types to the reference kernels.

%s""" % (len(rows), count[3], count[4], count[5], count[6], count["q8"],
         table(["Number", "Operator", "Operands", "HDI", "OH_NN", "NNAdapter", "ONNX", "Types", "Quantized", "Devices"], rows))


def write_counts(nnrt):
    """Writes two numbers into README.md and docs/models.md: all operators, and those that OpenHarmony and NNAdapter lack."""
    numbers = [operator["number"] for operator in listed(nnrt)]
    every, onnx = str(len(numbers)), str(sum(number >= 1100 for number in numbers))
    for page, pattern in (("README.md", r"(and )(\d+)( that\s+ONNX or language models need; `build/nnrt ops`\s+lists all )(\d+)"),
                          ("docs/models.md", r"(nnrt has )(\d+)( operators: .*? and )(\d+)( of them exist)")):
        path = ROOT / page
        first, second = (onnx, every) if page == "README.md" else (every, onnx)
        text, found = re.subn(pattern, lambda m: m[1] + first + m[3] + second + "".join(m.groups()[4:]),
                              path.read_text(encoding="utf-8"), count=1, flags=re.S)
        if found == 0:
            sys.exit("docs: %s has no sentence with the numbers of operators" % page)
        path.write_text(text, encoding="utf-8")


# ---- TensorFlow Lite ----

def tflite_md(nnrt):
    """docs/TFLITE.md."""
    about = listed(nnrt, "--tflite")
    letters = {"f": "float32", "h": "float16", "i": "int32", "l": "int64", "b": "bool", "n": "8 bits", "q": "quantized 8 bits",
               "s": "quantized int16", "w": "quantized int16 in float32"}
    rows = [[str(o["number"]), o["name"], "1 to %d" % o["versions"] if o["versions"] > 1 else "1", ", ".join(letters[t] for t in o["types"]),
             " ".join("`%s`" % name for name in o["becomes"].split() if name != "NONE") or ("its input" if o["types"] else "no node")] for o in about if o["versions"]]
    left = sorted((o["number"], o["name"]) for o in about if o["versions"] == 0)
    return """# TensorFlow Lite

`nnrt_tflite_load` in [formats/nnrt_tflite.h](../formats/nnrt_tflite.h) reads %d operators of TensorFlow Lite; `nnrt ops
--tflite` lists them. `make docs` writes this page. The suite `tflite` runs models of one operator and compares their results
with TensorFlow Lite's (`tests/formats/tflite.txt`): floats within 1e-5 of the largest magnitude, integers exactly, and 8-bit
results of CONV_2D, DIV, MEAN, SUM and RESIZE_BILINEAR within one unit (`ONE` in `tests/formats/test_tflite.py` gives the reasons).

- **Hybrid operators** (float32 inputs, int8 or int4 weights: CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED, BATCH_MATMUL,
  EMBEDDING_LOOKUP, recurrent layers) compute in float32 with dequantized weights. TensorFlow Lite quantizes the inputs to 8
  bits before each run of the operator, which loses up to 1/254 of their largest magnitude in each term of a sum. The results here
  are nearer to the float32 model; the tests hold the difference to that bound, and to 1e-5 of the sums of numpy. Weights
  above 64 KiB are dequantized in the run, as the import may allocate four times the bytes of the file only.
- **int4** constants become int8. A **float16** constant is also read as the weight of these operators without DEQUANTIZE.
- **Several subgraphs**: IF and WHILE become IF and LOOP; a condition that is constant selects the subgraph at import. A value
  of a WHILE may change its dimensions, but not its rank; the session then requires the upper bounds.
- **Signatures**: `nnrt_tflite_desc.signature` (`nnrt --signature NAME`) selects one; otherwise the model is the first
  subgraph.
- **shape_signature** of an input: a -1 where the shape of the file has 1 is a dynamic dimension with `nnrt_tflite_desc.dynamic`,
  and in the command line unless the operators require the size 1. Otherwise the shape of the file holds, as in TensorFlow Lite
  until ResizeInputTensor, and damage of the field has no effect. Sizes that the caller states may differ from it.
- **Variables**, and the states of recurrent layers and SVDF, are states of the model, which a session keeps between runs
  ([models.md](models.md#states)); the tests compare the third of three runs. The names of the states are those of the
  variables. An initial value that CALL_ONCE assigns must be constant. A variable that the main graph does not assign is a
  constant. Assignments in IF and WHILE are refused, and so is a dynamic batch of a layer with a state.
- **int16** with scale: CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED compute in integers with the bits of TensorFlow Lite
  ([quantization.md](quantization.md#16x8)), operators that move elements keep them. The types "quantized int16 in float32" are
  cast to float32 and the result to int16: it is the int16 nearest to the float32 result. TensorFlow Lite computes these
  in integers; the tests hold the difference to one unit, to two for LOGISTIC and TANH (tables there), to three for SOFTMAX.
- **complex64** values exist between RFFT2D, RESHAPE, SQUEEZE, REAL, IMAG and COMPLEX_ABS only, not as inputs and outputs.
  COMPLEX_ABS overflows above 1.8e19.
- **MaxUnpooling2D** reads filters of at least the stride; an index outside of its window fails the run.
- **TFLite_Detection_PostProcess**: unused slots of the results are zeros.

Versions: the versions of the operator that are read. Types: of the main input. Becomes: the operators of the runtime; a
fused activation that the operator cannot fuse becomes `ACTIVATION`.

%s
## Omitted operators

A file that uses one of them is refused; the message lists all of them with the first node of each and the remedy. Also
omitted: the operators of STABLEHLO (numbers 162 to 202, 204 and 206 to 209), other custom operators, variables, int16
tensors, int4 inputs and results, float32 inputs with uint8 weights, layer normalization in LSTM.

%s.
""" % (len(rows), table(["Number", "TensorFlow Lite", "Versions", "Types", "Becomes"], rows),
       textwrap.fill(", ".join("%s (%d)" % (name, number) for number, name in left if number != 32), 118))


# ---- the public functions ----

# the headers of docs/API.md, those of applications first
API = ["nnrt.h", "core/nnrt_graph.h", "core/nnrt_model.h", "core/nnrt_plan.h", "nnrt_hal.h", "nnrt_ops.h", "core/nnrt_frontend.h",
       "core/nnrt_text.h", "formats/nnrt_onnx.h", "formats/nnrt_tflite.h", "formats/nnrt_gguf.h", "formats/nnrt_safetensors.h", "formats/nnrt_quantize.h", "devices/nnrt_cpu.h", "devices/nnrt_auto.h",
       "devices/nnrt_mcu.h", "devices/nnrt_remote.h", "devices/nnrt_driver.h", "devices/nnrt_fake.h", "compat/nnrt_ohnn.h",
       "compat/nnrt_nnadapter.h", "compat/nnrt_nnadapter_driver.h"]
# the nouns of functions whose names do not begin with one, by the beginning of the name without nnrt_
NOUNS = {"run_async": "queue", "run": "session", "alloc": "memory", "free": "memory", "buffer_": "buffer", "add_size": "size",
         "mul_size": "size", "same_bits": "number", "half_": "number", "sqrtf": "number", "expf": "number", "logf": "number",
         "sinf": "number", "cosf": "number", "powf": "number", "activate": "number", "int64_list": "list", "float_list": "list",
         "load_": "element", "taps_": "tap", "resize_": "tap", "rescale": "quantization", "quant_": "quantization",
         "parallel_for": "call", "onnx_parse_tensor": "tensor", "onnx_tensor": "tensor", "onnx_data_type": "tensor",
         "onnx_operator": "operator", "onnx_": "model", "tflite_operator": "operator", "tflite_": "model", "gguf_is": "model", "gguf_load": "model", "gguf_": "key", "safetensors_": "model", "quantize": "model",
         "remote_serve": "server", "remote_": "device", "fake_": "device", "cpu_": "device", "auto_": "device",
         "tokenize": "tokenizer", "sample": "sampler", "detokenize": "detokenizer", "token_": "token", "mcu_register": "device", "mcu_target": "device", "mcu_": "program", "driver_": "driver", "ohnn_": "log",
         "nnadapter_driver": "driver", "nnadapter_model": "model", "nnadapter_compilation": "compilation",
         "nnadapter_execution": "execution", "prepared_": "prepared model", "op_": "operator", "attr_": "attributes",
         "dims_": "dimensions"}


def noun_of(function):
    """The noun that a function is about: "session" of nnrt_session_create."""
    name = function[len("nnrt_"):]
    return next((noun for begin, noun in NOUNS.items() if name.startswith(begin)), name.split("_")[0])


def first_sentence(comment):
    """The first sentence of a comment as Markdown, without the code that may follow it, indented."""
    text = re.sub(r"\s+", " ", re.sub(r"\n \*", "\n", comment.split("\n       ")[0])).strip()
    text = re.match(r"(.*?)(?:(?<![.\s])\.(?= )|[.:]?$)", text).group(1)
    return re.sub(r'(?<![\w"])(\*\w+|(?:nnrt_|NNRT_)\w+(?:(?:\.|->)\w+)*|\w+->\w+(?:\.\w+)*)', r"`\1`", text).replace("<", "&lt;") + "."


def declared(header):
    """[(section, function, comment)] of the functions that a header declares, in their order, without the kernels, which macros
    declare. section: the description of a section for writers, otherwise "". Several functions may follow one comment; None: they
    have none."""
    text = (ROOT / header).read_text(encoding="utf-8")
    sections = dict(re.findall(r"^    >>(\w+) +(for writers of .*)", text.split("*/")[0], re.M))
    text = re.split(r"^/\* =+ \*/$", text, flags=re.M)[0].split("*/", 1)[1]
    found, section, comment = [], "", None
    pattern = r"^/\*(.*?)\*/|^(?:NNRT_API|NNRT_INLINE)\b([^;{]*)[;{]|^(?: *$|[^#\s][^\n]*)" # a comment, a function, other code
    for part in re.finditer(pattern, text, re.M | re.S):
        if part.group(2) is not None:
            found.append((section, re.search(r"\b(\w+)\(", part.group(2)).group(1), comment))
        elif part.group(1) is None or re.match(r" (?:-|>>)", part.group(1)):
            tag = re.match(r" >>(\w+)", part.group(1) or "")
            section = sections.get(tag.group(1), "") if tag else section
            comment = None
        else:
            comment = part.group(1)
    return found


def api_md():
    """docs/API.md."""
    page = ["""# Functions

The public functions by header, those of applications first, each with the first sentence of its comment; the comment has the
contract. `make docs` writes this page from the headers. `tests/source/api.txt` has the declarations, kernels included; a
change of one is an entry of the [changelog](../CHANGELOG.md). [ARCHITECTURE.md](ARCHITECTURE.md#layers) explains the layers.

Not listed: the reference kernels, one for each operator and element type, which `nnrt_ops.h` declares from its table
([OPERATORS.md](OPERATORS.md)); the kernels of the device `mcu` and their checks (`NNRTI_MCU_KERNELS` of
`devices/nnrt_mcu.h`); the functions of OH_NN and NNAdapter, whose headers are in `compat`
([guide](oh_nn-and-nnadapter.md)).
"""]
    for header in API:
        functions = declared(header)
        bare = [name for _, name, comment in functions if comment is None]
        if bare:
            raise SystemExit("%s: a comment is missing above %s" % (header, ", ".join(bare)))
        top = (ROOT / header).read_text(encoding="utf-8")
        about = re.match(r"/\*\s+[\w.]+ - (.*?\.)\s", re.sub(r"\s+", " ", top.split("*/")[0]))
        page.append("\n## %s\n\n[%s](../%s): %s\n" % (pathlib.Path(header).name, header, header, about.group(1)))
        for section in dict.fromkeys(section for section, _, _ in functions):
            nouns = {}
            for _, name, comment in (f for f in functions if f[0] == section):
                nouns.setdefault(noun_of(name), {}).setdefault(first_sentence(comment), []).append("`%s`" % name)
            rows = [[noun if i == 0 else "", ", ".join(names), sentence]
                    for noun, lines in nouns.items() for i, (sentence, names) in enumerate(lines.items())]
            page.append(("\nF%s.\n\n" % section[1:] if section else "\n") + table(["Noun", "Function", "Purpose"], rows))
    return "".join(page)


# ---- ONNX ----

def reason_of(text, left_out):
    """The reason of a skipped test: (kind, sentence)."""
    missing = re.search(r"not supported(?: \([^)]*\))?: (.*)", text)
    if missing:
        names = re.findall(r"([A-Za-z0-9_.]+) x\d+", missing.group(1))
        kinds = {left_out.get(name, "") for name in names}
        kind = next((k for k in sorted(kinds) if k), "")
        return kind or "unsupported operators", ", ".join(sorted({n for n in names if left_out.get(n, "") == kind}))
    for kind, pattern in (("bfloat16", r"element type bfloat16"), ("strings", r"element type string"),
                          ("training", r"training"),
                          ("replaced by a later release", r"a later release replaced")):
        if re.search(pattern, text):
            return kind, text.split(": ", 1)[1] if kind.startswith("replaced") else ""
    return "other", re.sub(r"^ONNX node \d+ '[^']*' \(\w+\): ", "", text)


def onnx_md(nnrt, log):
    """docs/ONNX.md."""
    about = listed(nnrt, "--onnx")
    left_out = {o["name"]: o["why"] for o in about if o["sets"][1] == 0}
    tests = re.findall(r"^(PASS\*?|FAIL|SKIP) (\w+) \(([\w.]+| *\d+ nodes)\)(?:: (.*))?$", log, re.M)
    last = re.search(r"^(\d+) passed \((\d+) of them with inputs made constants\), (\d+) failed, (\d+) skipped$", log, re.M)
    draws = re.search(r"^(\d+) of those that passed by shape, type, values and sum", log, re.M)
    later = re.search(r"^(\d+) passed by the definition of a later release", log, re.M)
    opened = re.findall(r"^(\d+) of (\d+) data sets with dynamic dimensions, given in the ([\w ]+):", log, re.M)
    refused = re.search(r"^(\d+) imports without shapes and values refused", log, re.M)
    if None in (last, draws, later, refused) or not opened or len(tests) != int(last.group(1)) + int(last.group(3)) + int(last.group(4)):
        raise SystemExit("the log has another number of tests than it says")
    result, reasons = collections.defaultdict(collections.Counter), collections.Counter()
    why, single = collections.defaultdict(collections.Counter), {o["name"] for o in about}
    for state, _, operator, text in tests:
        of = operator if operator in single or not operator.endswith("nodes") else ""
        result[of][state[:4]] += 1
        result[of]["*"] += state == "PASS*"
        if state == "SKIP":
            kind, sentence = reason_of(text, left_out)
            reasons[kind if kind != "other" else sentence] += 1
            why[of][" ".join(filter(None, [kind if kind != "other" else "", sentence]))] += 1

    def cells(name):
        r = result[name]
        total = r["PASS"] + r["SKIP"] + r["FAIL"]
        skipped = "; ".join("%d: %s" % (n, text) if n < total else text for text, n in sorted(why[name].items()))
        return ["%d of %d" % (r["PASS"], total) if total else "no tests", skipped]

    def words(text):
        return " ".join("`%s`" % word for word in text.split())

    rows, contrib, ml = [], [], []
    for o in about:
        if o["sets"][1] == 0:
            continue
        what = words(o["becomes"]) or (words(o["with"]) and "made of " + words(o["with"]) + ": " + o["why"]) or o["why"]
        if o["name"].startswith("com.microsoft."):
            contrib.append([o["name"][14:], what, o["why"] if o["becomes"] else ""])
        elif o["name"].startswith("ai.onnx.ml."):
            ml.append([o["name"][11:], what, o["why"] if o["becomes"] else ""])
        else:
            rows.append(["%s" % o["name"], sets_text(o), what, *cells(o["name"])])
    out = [[o["name"], o["why"], cells(o["name"])[0]] for o in about if o["sets"][1] == 0]
    missing = [[name, *cells(name)] for name in sorted(result) if name and name not in single]
    passed, constant, failed, skipped = (int(n) for n in last.groups())
    text = """# ONNX

The importer runs the tests of the onnx package %s (node, simple and PyTorch tests, operator sets up to 25), the newest
that Debian has: %d tests, **%d passed, %d failed, %d skipped**. %d of the passed tests need some inputs as
constants. %s passed tests have random results, which ONNX does not specify: their shape, type, values (0 or 1, of Dropout 0 or
x / (1 - ratio)) and sum are
checked. Of %s passed tests a later release of onnx replaced the expected outputs: definitions in numpy of its text
(`tests/formats/onnx_replaced.py`) take their place. `make conformance` runs the tests and writes this page; `make test` compares it.

%s
Each model is imported with and without optimization. Its outputs are compared with the outputs in the onnx package: 1e-3
relative and 1e-7 absolute tolerance, equal integers. Each passed test runs again with dynamic dimensions for all inputs but
lists (axes, sizes), and with the model saved as a .nnrt file and loaded:
%s.
Each is also loaded without a single shape or value: %s of these loads are refused. A session gets shapes and values:
%s. The others: %s.

`make models-open` runs the tests whose inputs and outputs are tensors of numbers with the command line, a symbol in the place of
every dimension of every input, of lists and weights as well: `nnrt info` shows 1373 of 1373, 1373 of 1373 run, and 1373 of 1373 run
with upper bounds (`--max`). In three of these, GatherND, a size decides how many axes the result has: the message asks for
`--shape` instead of `--max` for that input.

The tests of onnx 1.20 have no FlexAttention, SwiGLU, LinearAttention and CausalConvWithState, and no float16 and bfloat16 in
Celu and Range. The suite `contrib` compares these with ONNX Runtime, or, where ONNX Runtime has no kernel, with definitions
in numpy (`tests/formats/contrib_onnx.py`); float64 matrix multiplications, convolutions, pools, Softmax and normalizations, too.

%s
## Supported operators

""" % (re.search(r"^VERSION=(.*)$", (ROOT / "tests/kit/onnx_data.sh").read_text(), re.M).group(1), len(tests), passed, failed, skipped, constant, draws.group(1), later.group(1),
       table(["Skipped", "Reason"], [[str(n), kind] for kind, n in sorted(reasons.items(), key=lambda x: (-x[1], x[0]))]),
       ", ".join("%s of %s give the same bits with dimensions from the %s" % o for o in opened[:-1]),
       refused.group(1), "%s of %s give the same bits" % opened[-1][:2],
       ", ".join("`%s`" % t for t in re.findall(r"^OPEN \S*/(\w+)/model.onnx: shapes given in the session alone", log, re.M)) or "none",
       "%d of %d tests are models of several nodes. They are counted above, and not in the table below.\n" %
       (sum(result[""][s] for s in ("PASS", "SKIP", "FAIL")), len(tests)))
    text += table(["ONNX", "Operator sets", "Becomes", "Tests passed", "Skipped"], rows)
    if missing:
        text += "\n## Operators that are not in the table\n\n" + table(["ONNX", "Tests passed", "Skipped"], missing)
    text += """
## com.microsoft

Operators of ONNX Runtime's own domain, which its quantizer, optimizer and exporters write. The suite `contrib` compares
them with ONNX Runtime's results (`tests/formats/contrib.txt`), with fixed and with dynamic dimensions: 8-bit results are at most
one unit beside (averages at most half a unit of the input), floating point at most 1e-5 of the largest magnitude.

- DynamicQuantizeLSTM computes in float32 with dequantized weights and has the results of ONNX Runtime's LSTM with these
  weights. ONNX Runtime's DynamicQuantizeLSTM also quantizes x and the state to 8 bits, once in each step: it differs by
  up to 2.2e-2 of the largest magnitude (144 random models; the suite permits 3e-2).
- Inverse of a singular matrix has the Inf and NaN of a division by the pivot 0, as in ONNX Runtime; the run succeeds.
- NhwcConv has weights [O,R,S,C/group], as ONNX Runtime's optimizer writes them. ONNX Runtime has no kernel for
  processors: the results of its Conv between two Transposes are compared. Its documentation states [O,C/group,R,S]: if
  C/group, R and S are equal, such a weight is read in the other order.
- LinearAttention, also that of ONNX's operator set 27, becomes a LOOP over the steps; `state_window` is not supported.

""" + table(["Operator", "Becomes", "Added operators are for"], contrib)
    text += """
## ai.onnx.ml

Classical models, as the exporters of scikit-learn, XGBoost and LightGBM write them; labels and keys are integers or floats.
The suite `contrib` compares their results, too, with ONNX Runtime's: equal labels, scores within 1e-5.
Where ONNX Runtime 1.30 differs from the specification, the specification holds: the label of two classes that both have
weights in a tree ensemble (ONNX Runtime: 0 or 1, by the sign of the second score), and the numbers of post_transform of
TreeEnsemble (ONNX Runtime exchanges SOFTMAX and LOGISTIC).

""" + table(["Operator", "Becomes", "Added operators are for"], ml)
    return text + "\n## Unsupported operators\n\n" + table(["ONNX", "Reason", "Tests passed"], out)


# ---- the manual page ----

def roff(text):
    """Text with the special characters of roff escaped."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def man_command(nnrt, name):
    """The section of a command: usage, text, options and examples of its --help."""
    lines = subprocess.run([nnrt, name, "--help"], check=True, capture_output=True, text=True).stdout.splitlines()
    out, part = [".SS \"%s\"" % roff(lines[0].replace("usage: ", ""))], ""
    for line in lines[1:]:
        option = re.match(r"  (.{22}|\S+ \S+) (.*)$", line) if part == "options:" else None  # the texts form one column
        if line in ("options:", "example:", "examples:"):
            part = line
            out += [".PP", roff(line.capitalize())] if part != "options:" else []
        elif not line.strip():
            out.append(".PP")
        elif option:
            out += [".TP", ".B " + roff(option[1].rstrip()), roff(option[2])]
        elif part.startswith("example"):
            command = [".br", ".B " + roff(line.strip())]
            out += [".na"] + command + [".br", ".ad"] if max(map(len, line.split())) > 60 else command
        else:
            out.append(roff(line.strip()))
    return out


def man_page(nnrt):
    """packaging/nnrt.1"""
    lines = subprocess.run([nnrt, "--help"], check=True, capture_output=True, text=True).stdout.splitlines()
    version = lines[0].split()[1]
    commands = [re.match(r"  (\S+) +", line)[1] for line in lines if re.match(r"  \S+ .* [A-Z]", line) and "nnrt" not in line.split()[0]]
    out = ['.\\" Written by tools/docs/docs.py: make docs', '.TH NNRT 1 "" "nnrt %s" "User Commands"' % version, ".SH NAME",
           "nnrt \\- runs neural networks", ".SH SYNOPSIS", ".B nnrt", "COMMAND [arguments]", ".SH DESCRIPTION"]
    for line in lines:
        if line.startswith(("MODEL is", "Results go")):
            out.append(roff(line))
    out += [".SH COMMANDS"]
    for name in commands:
        out += man_command(nnrt, name)
    out += [".SH EXIT STATUS"] + [roff(line.replace("Exit status: ", "")) for line in lines if line.startswith("Exit status")]
    return "\n".join(out) + "\n"


def main():
    """Writes a page or compares it with its file."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--nnrt", default=str(ROOT / "build/nnrt"))
    parser.add_argument("--vectors", default=str(ROOT / "build/test/device_vectors"))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("page", choices=("operators", "onnx", "man", "tflite", "api"))
    parser.add_argument("log", nargs="?")
    args = parser.parse_args()
    if args.page == "onnx":
        text = onnx_md(args.nnrt, pathlib.Path(args.log).read_text(encoding="utf-8", errors="replace"))
    elif args.page == "api":
        text = api_md()
    else:
        text = {"man": man_page, "tflite": tflite_md}[args.page](args.nnrt) if args.page in ("man", "tflite") else \
            operators_md(args.nnrt, args.vectors)
    path = ROOT / {"onnx": "docs/ONNX.md", "man": "packaging/nnrt.1", "tflite": "docs/TFLITE.md", "api": "docs/API.md"}.get(args.page, "docs/OPERATORS.md")
    if not args.check:
        path.write_text(text, encoding="utf-8")
        if args.page == "operators":
            write_counts(args.nnrt)
        return 0
    there = path.read_text(encoding="utf-8") if path.exists() else ""
    for one, other in zip(there.splitlines() + [""], text.splitlines() + [""]):
        if one != other:
            print("%s differs from the generated text (run make docs):\n  file:      %s\n  generated: %s" % (path.relative_to(ROOT), one, other))
            return 1
    if there != text:
        print("%s differs from the generated text (run make docs)" % path.relative_to(ROOT))
    return int(there != text)


if __name__ == "__main__":
    sys.exit(main())

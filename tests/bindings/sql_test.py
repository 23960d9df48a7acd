#!/usr/bin/env python3
"""Tests the extensions of SQLite and PostgreSQL (make sql-test): the same calls in both, then what only one of them has.

    sql_test.py ROOT SANITIZED BINDIR [NAME ..]

ROOT has the files of `make sql-install`, SANITIZED is the extension of SQLite with sanitizers, BINDIR the programs of
PostgreSQL. The server has a folder, a user and a socket of its own and no port. Expected values: the files of the onnx
package, and numpy. Ends with "N passed, N failed"."""
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).resolve().parents[2]
DIGITS = HERE / "examples/digits/digits.onnx"
DATA = pathlib.Path(os.environ.get("NNRT_ONNX_TESTDATA", "/usr/share/libonnx-testdata/data"))
sys.path[:0] = [str(HERE / "examples/digits"), str(HERE / "tests/formats/tflite"), str(HERE / "tests/tools")]
import onnx_numpy  # noqa: E402
import text_case  # noqa: E402
import text_models  # noqa: E402
import gguf_numpy  # noqa: E402  text_models has added its folder
from sql_kit import Postgres, Refused, Server, SQLite, close, model, npy, refused, scaled, wide  # noqa: E402
from writer import Model as LiteModel  # noqa: E402

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


# ---- in both databases ----

def test_digits(db, folder):
    """The network of the example, in each form of its argument; numpy computes in float64."""
    x = numpy.random.default_rng(1).random((1, 1, 28, 28), dtype="float32")
    want = onnx_numpy.run(onnx.load(str(DIGITS)), x)
    path = folder / "digits.onnx"
    shutil.copy(DIGITS, path)
    for form in x.tobytes(), npy(x), npy(x[0, 0]), x, x[0, 0], x.ravel(), x.astype("float64"):
        close(db.call("nnrt_run", path, form), want, 1e-3, 1e-5)
    close(numpy.frombuffer(db.call(db.BYTES, path, x.tobytes()), "<f4"), want, 1e-3, 1e-5)
    assert db.call("nnrt_argmax", path, x) == want.argmax()
    [output] = db.call("nnrt_run_all", path, x)
    assert output.pop("data") == [float("%.9g" % v) for v in numpy.frombuffer(db.call(db.BYTES, path, x), "<f4")]
    assert output == {"name": "probabilities", "type": "float32", "dims": [1, 10]}
    assert db.call("nnrt_info", path) == {"inputs": [{"name": "image", "type": "float32", "dims": [1, 1, 28, 28]}],
                                          "outputs": [{"name": "probabilities", "type": "float32", "dims": [1, 10]}]}


def load_tensors(case, kind, count):
    for i in range(count):
        t = onnx.load_tensor(str(case / "test_data_set_0" / ("%s_%d.pb" % (kind, i))))
        yield numpy_helper.to_array(t)


def test_nodes(db, folder):
    """The tests of the onnx package for operators: tolerances as there. Inputs that must be constants are refused."""
    equal = refusals = 0
    for case in sorted((DATA / "node").iterdir()):
        graph = onnx.load(str(case / "model.onnx")).graph
        try:
            inputs = list(load_tensors(case, "input", len(graph.input)))
            wants = list(load_tensors(case, "output", len(graph.output)))
        except Exception:
            continue  # sequences, optional values
        if not inputs or any(a.dtype == object or a.dtype.kind not in "fiub" for a in inputs + wants):
            continue
        try:
            outputs = db.call("nnrt_run_all", folder.parent / "node" / case.name / "model.onnx", *(a.tobytes() for a in inputs))
        except Refused as error:
            assert str(error).startswith(str(folder.parent / "node")) or "more than 127" in str(error), str(error)
            refusals += 1
            continue
        if "dropout" in case.name and "train" in case.name or "bernoulli" in case.name or "random" in case.name and "_like" in case.name:
            continue  # random results
        assert len(outputs) == len(wants), case.name
        for got, want in zip(outputs, wants):
            assert got["dims"] == list(want.shape) and got["type"] == want.dtype.name, (case.name, got["dims"], got["type"])
            values = [None if v is None else float(v) for v in got["data"]]
            want = want.astype("float64").ravel()
            finite = numpy.isfinite(want)
            assert [v is None for v in values] == (~finite).tolist(), case.name
            close([v for v in values if v is not None], want[finite], 1e-3, 1e-7)
        equal += 1
    assert equal >= 700, "%d equal, %d refused" % (equal, refusals)


def test_formats(db, folder):
    """.nnrt and .tflite files. The extension with sanitizers lacks an instruction set, whose sums have another order."""
    x = numpy.random.default_rng(2).random((1, 1, 28, 28), dtype="float32")
    subprocess.run([HERE / "build/nnrt", "convert", DIGITS, folder / "digits.nnrt"], check=True, stdout=subprocess.DEVNULL)
    close(db.call("nnrt_run", folder / "digits.nnrt", x), onnx_numpy.run(onnx.load(str(DIGITS)), x), 1e-3, 1e-5)
    m = LiteModel()
    a, b = m.tensor("a", "float32", [2, 2]), m.tensor("b", "float32", [2, 2])
    m.op("ADD", [a, m.constant("c", numpy.array([[1, 2], [3, 4]], "float32"))], [b], activation="NONE")
    m.inputs, m.outputs = [a], [b]
    (folder / "add.tflite").write_bytes(m.bytes())
    assert db.call("nnrt_info", folder / "add.tflite") == {"inputs": [{"name": "a", "type": "float32", "dims": [2, 2]}],
                                                           "outputs": [{"name": "b", "type": "float32", "dims": [2, 2]}]}
    close(db.call("nnrt_run", folder / "add.tflite", numpy.ones((2, 2), "float32")), [2, 3, 4, 5])


def test_types(db, folder):
    """Numbers become elements without loss, or the call fails."""
    for name, kind in {"float16": TensorProto.FLOAT16, "float64": TensorProto.DOUBLE, "int8": TensorProto.INT8, "int16": TensorProto.INT16,
                       "int32": TensorProto.INT32, "int64": INT64, "uint8": TensorProto.UINT8, "bool": TensorProto.BOOL}.items():
        path = model(folder / (name + ".onnx"), [helper.make_node("Identity", ["x"], ["y"])], [("x", kind, [3])], [("y", kind, [3])])
        x = numpy.array([0, 1, 1], name)
        assert db.call("nnrt_run_all", path, numpy.array([0, 1, 1], "float64"))[0]["data"] == [0, 1, 1], name
        assert db.call(db.BYTES, path, x.tobytes()) == x.tobytes() == db.call(db.BYTES, path, npy(x)), name
        refused("needs 'descr'", db.call, "nnrt_run", path, npy(x.astype("float32")), code="42804")
        if name[0] != "f":
            for value in 0.5, -1e9 if name[0] in "ub" else 2.0**63:
                refused("element 1 is", db.call, "nnrt_run", path, numpy.array([0, value, 0]), code="22023")
    refused("element 0 is", db.call, "nnrt_run", folder / "float16.onnx", numpy.array([65520.0, 0, 0]))
    assert db.call("nnrt_run", folder / "float16.onnx", numpy.array([65519.0, 0, 0]))[0] == 65504
    big = numpy.array([2**53 + 1, -2**63, 2**63 - 1], "int64")
    assert db.call("nnrt_run_all", folder / "int64.onnx", big.tobytes())[0]["data"] == big.tolist()
    refused("2\\^53|element 0 is", db.call, "nnrt_run", folder / "int64.onnx", big)
    path = model(folder / "two.onnx", [helper.make_node("Pow", ["x", "n"], ["y"]), helper.make_node("Neg", ["y"], ["z"])],
                 [("x", FLOAT, []), ("n", FLOAT, [])], [("y", FLOAT, []), ("z", FLOAT, [])])
    assert db.call("nnrt_run", path, 3.0, 2.0) == [9]
    assert [o["data"] for o in db.call("nnrt_run_all", path, 2, 5)] == [[32], [-32]]
    refused("has 2 inputs and received 1", db.call, "nnrt_run", path, 3.0, code="22023")
    refused("has 2 inputs and received 3", db.call, "nnrt_run", path, 3.0, 1.0, 1.0)


def test_shapes(db, folder):
    """A dynamic dimension follows from the argument; more than SQL_SHAPES shapes in turn."""
    path = scaled(folder / "dynamic.onnx", 3)
    assert db.call("nnrt_info", path)["inputs"][0]["dims"] == [None, 2]
    for n in list(range(7)) + [2, 1, 0, 6]:
        x = numpy.arange(2 * n, dtype="float32")
        for form in x.tobytes(), npy(x.reshape(n, 2)), x:
            close(db.call("nnrt_run", path, form), 3 * x)
    assert db.call("nnrt_run_all", path, b"\0" * 40)[0]["dims"] == [5, 2]
    refused(r"float32\[\?,2\] and received \[3,3\]", db.call, "nnrt_run", path, numpy.ones((3, 3), "float32"), code="2202E")
    refused(r"float32\[\?,2\] and received 12 bytes", db.call, "nnrt_run", path, bytes(12))
    refused(r"received 13 bytes", db.call, "nnrt_run", path, bytes(13))
    path = scaled(folder / "both.onnx", 3, ("N", "M"))
    refused(r"float32\[\?,\?\]", db.call, "nnrt_run", path, bytes(24))
    assert db.call("nnrt_run_all", path, npy(numpy.ones((3, 4), "float32")))[0]["dims"] == [3, 4]
    path = scaled(folder / "any.onnx", 3, None)
    refused("any shape", db.call, "nnrt_run", path, bytes(24))
    assert db.call("nnrt_run_all", path, numpy.ones((1, 2, 3), "float32"))[0]["dims"] == [1, 2, 3]
    path = model(folder / "nonzero.onnx", [helper.make_node("NonZero", ["x"], ["y"])], [("x", FLOAT, ["N"])], [("y", INT64, [1, None])])
    for n in 3, 1000, 300000:  # more than the first bytes of a buffer
        x = numpy.random.default_rng(n).integers(0, 2, n).astype("float32")
        close(db.call("nnrt_run", path, x.tobytes()), numpy.flatnonzero(x))
    refused("one axis", db.call, "nnrt_argmax", scaled(folder / "square.onnx", 1, [2, 2]), bytes(16))
    refused("NaN", db.call, "nnrt_argmax", scaled(folder / "row.onnx", 1, [1, 2]), numpy.array([1, numpy.nan], "float32").tobytes())
    assert db.call("nnrt_argmax", folder / "row.onnx", numpy.array([1, 2], "float32")) == 1


def test_replaced(db, folder):
    """A file that was overwritten, replaced or removed is seen by the next call; more models than the cache keeps."""
    path, x = folder / "changes.onnx", numpy.ones(2, "float32")
    for factor in 2, 3, 4:
        scaled(path, factor)
        os.utime(path, ns=(0, factor))  # a file system may have coarse times
        close(db.call("nnrt_run", path, x), [factor] * 2)
    scaled(folder / "other.onnx", 5)
    os.utime(folder / "other.onnx", ns=(0, 4))
    (folder / "other.onnx").replace(path)
    close(db.call("nnrt_run", path, x), [5, 5])
    with open(path, "r+b") as file:
        file.truncate(30)
    refused("changes.onnx: ", db.call, "nnrt_run", path, x)
    path.unlink()
    refused("changes.onnx: No such file", db.call, "nnrt_run", path, x, code="58P01")
    for turn in range(3):
        for i in range(11):
            if turn == 0:
                scaled(folder / ("many%d.onnx" % i), i)
            close(db.call("nnrt_run", folder / ("many%d.onnx" % i), x), [i, i])


def test_bad_input(db, folder):
    """Each fault is an error with a sentence."""
    path, x = scaled(folder / "good.onnx", 2, [1, 2]), numpy.ones(2, "float32")
    refused("missing.onnx: No such file", db.call, "nnrt_run", folder / "missing.onnx", x, code="58P01")
    refused("it is no regular file", db.call, "nnrt_info", folder)
    refused("it is no regular file", db.call, "nnrt_info", pathlib.Path("/dev/zero"))
    os.mkfifo(folder / "pipe")
    os.chmod(folder / "pipe", 0o666)
    refused("it is no regular file", db.call, "nnrt_info", folder / "pipe")
    (folder / "text.onnx").write_text("no model, but a text")
    refused("text.onnx: this is not an ONNX file", db.call, "nnrt_run", folder / "text.onnx", x)
    (folder / "empty.onnx").touch()
    refused("empty.onnx: ", db.call, "nnrt_run", folder / "empty.onnx", x)
    refused("PNG or JPEG", db.call, "nnrt_run", path, (HERE / "examples/digits/digit_3.png").read_bytes())
    refused(r"float32\[1,2\] and received 10000000 bytes", db.call, "nnrt_run", path, bytes(10000000))
    refused(r"received 0 bytes", db.call, "nnrt_run", path, b"")
    file = npy(x)
    for bad in file[:3], file[:7], file[:11], file[:60], file[:-1], file.replace(b"(2,)", b"(3,)"), file.replace(b"(2,)", b"(x,)"), file + b"1", file[:8] + b"\xff\xff" + bytes(70000):
        refused("good.onnx: ", db.call, "nnrt_run", path, bad)
    refused("Fortran", db.call, "nnrt_run", path, npy(numpy.asfortranarray(numpy.ones((2, 2), "float32"))))
    for values in (None, x), (path, None):
        assert db.call("nnrt_run", *values) is None and db.call("nnrt_argmax", *values) is None
    assert db.call("nnrt_info", None) is None
    unknown = model(folder / "unknown.onnx", [helper.make_node("Nonsense", ["x"], ["y"])], [("x", FLOAT, [2])], [("y", FLOAT, [2])])
    refused("unknown.onnx: .*Nonsense", db.call, "nnrt_run", unknown, x, code="0A000")
    many = ["x%d" % i for i in range(200)]
    path = model(folder / "many.onnx", [helper.make_node("Sum", many, ["y"])], [(n, FLOAT, [2]) for n in many], [("y", FLOAT, [2])])
    refused("more than 127 inputs", db.call, "nnrt_info", path, code="0A000")
    node = helper.make_node("Add", ["x", "before"], ["after"])
    stateful = model(folder / "state.onnx", [node, helper.make_node("Neg", ["after"], ["y"])], [("x", FLOAT, [2]), ("before", FLOAT, [2])],
                     [("y", FLOAT, [2]), ("after", FLOAT, [2])])
    subprocess.run([HERE / "build/nnrt", "convert", stateful, folder / "state.nnrt", "--state", "before=after"], check=True, stdout=subprocess.DEVNULL)
    refused("states", db.call, "nnrt_run", folder / "state.nnrt", x, x)


def vector(got):
    """The elements of a result of nnrt_embed."""
    return numpy.frombuffer(got, "<f4") if isinstance(got, bytes) else numpy.array(got, "float32")


def unit(v):
    return v.ravel() / numpy.linalg.norm(v)


def test_embed(db, folder):
    """Vectors of texts equal the definitions in numpy; models and tokenizers that change."""
    long = "a " * 200
    texts = {"Unable": [2, 5, 6, 3], "the cats sat.": [2, 7, 8, 9, 10, 11, 3], "": [2, 3], "a " * 70: [2] + [12] * 70 + [3], long: [2] + [12] * 126 + [3]}
    for arch in "bert", "nomic-bert":
        model = text_models.model(arch, text_models.words_keys())
        path = folder / (arch + ".gguf")
        path.write_bytes(model.bytes())
        for text, ids in texts.items():
            got = vector(db.call("nnrt_embed", path, text))
            assert got.shape == (64,)
            close(got, unit(gguf_numpy.embedding(model, ids)), 0, 1e-5)
    path.write_bytes(text_models.model("bert", text_models.words_keys(), seed=1).bytes())
    os.utime(path, ns=(0, 1))
    close(vector(db.call("nnrt_embed", path, "Unable")),
          unit(gguf_numpy.embedding(text_models.model("bert", text_models.words_keys(), seed=1), texts["Unable"])), 0, 1e-5)
    table = numpy.random.default_rng(2).standard_normal((len(text_models.WORDS), 6))
    onnx_file, words, other = folder / "encoder.onnx", folder / "words.json", folder / "other.json"
    onnx_file.write_bytes(text_models.encoder(table))
    words.write_bytes(text_models.tokenizer_json())
    for _ in range(2):
        close(vector(db.call("nnrt_embed", onnx_file, "cats", words)), unit(table[[2, 8, 9, 3]].mean(0)), 0, 1e-5)
        close(vector(db.call("nnrt_embed", path, "cats", words)), vector(db.call("nnrt_embed", path, "cats")), 0, 0)
    other.write_bytes(text_models.tokenizer_json().replace(b'"cat": 8', b'"cat": 12').replace(b'"a": 12', b'"a": 8'))
    close(vector(db.call("nnrt_embed", onnx_file, "cats", other)), unit(table[[2, 12, 9, 3]].mean(0)), 0, 1e-5)
    words.write_bytes(other.read_bytes())
    os.utime(words, ns=(0, 1))
    close(vector(db.call("nnrt_embed", onnx_file, "cats", words)), unit(table[[2, 12, 9, 3]].mean(0)), 0, 1e-5)
    refused("has no tokenizer: pass its tokenizer.json", db.call, "nnrt_embed", onnx_file, "cats", code="22023")
    refused("No such file", db.call, "nnrt_embed", folder / "absent.gguf", "cats", code="58P01")
    refused("No such file", db.call, "nnrt_embed", onnx_file, "cats", folder / "absent.json", code="58P01")
    refused("no JSON object", db.call, "nnrt_embed", onnx_file, "cats", folder / "digits.onnx")
    refused("input 'image' is none of an encoder", db.call, "nnrt_embed", folder / "digits.onnx", "cats", words, code="0A000")
    (folder / "chain.gguf").write_bytes(text_models.model("qwen2", text_models.bytes_keys()).bytes())
    refused("is none of an encoder", db.call, "nnrt_embed", folder / "chain.gguf", "cats", code="0A000")
    whole = path.read_bytes()
    for end in range(4, len(whole), len(whole) // 40):
        path.write_bytes(whole[:end])
        os.utime(path, ns=(0, 2 + end))
        refused("damaged|cut short|has no|GGUF", db.call, "nnrt_embed", path, "cats")
    rng, errors = random.Random(5), 0
    for i in range(60):
        data = bytearray(whole)
        data[rng.randrange(4, 2000)] ^= 1 << rng.randrange(8)  # of the keys and the table of tensors
        path.write_bytes(data)
        os.utime(path, ns=(0, 1000000 + i))
        try:
            assert len(db.call("nnrt_embed", path, "cats")) > 0
        except Refused:
            errors += 1
    assert 10 < errors < 60, errors
    a, b = numpy.random.default_rng(3).standard_normal((2, 33)).astype("float32")
    cosine = a.astype("float64") @ b / numpy.sqrt((a.astype("float64") ** 2).sum() * (b.astype("float64") ** 2).sum())
    forms = [(v.tobytes() if isinstance(db, SQLite) else v) for v in (a, b, a[:32], 0 * a)]
    assert abs(db.call("nnrt_cosine", *forms[:2]) - cosine) < 1e-12
    assert abs(db.call("nnrt_cosine", forms[0], forms[0]) - 1) < 1e-12
    assert db.call("nnrt_cosine", forms[0], forms[3]) is None
    refused("nnrt_cosine: ", db.call, "nnrt_cosine", forms[0], forms[2], code="2202E")


def test_damaged(db, folder):
    """300 variants of a file of each format, truncated or with changed bytes: a result or an error each."""
    results = errors = 0
    x = bytes(28 * 28 * 4)
    for source in folder / "digits.onnx", folder / "digits.nnrt", folder / "add.tflite":
        good, rng = source.read_bytes(), random.Random(7)
        path = folder / ("damaged" + source.suffix)
        for i in range(300):
            data = bytearray(good)
            if i % 3 == 0:
                del data[rng.randrange(len(data)):]
            else:
                # half of the changes are in the first or last KiB, where the structure is
                for _ in range(rng.choice([1, 1, 8])):
                    at = rng.choice([rng.randrange(len(data)), rng.randrange(min(1024, len(data))), -rng.randrange(min(1024, len(data))) - 1])
                    data[at] = rng.choice([0, 255, data[at] ^ 1 << rng.randrange(8)])
            path.write_bytes(data)
            os.utime(path, ns=(0, i))
            try:
                db.call("nnrt_run", path, x if source.suffix != ".tflite" else bytes(16))
                results += 1
            except Refused as error:
                assert "damaged" in str(error) or "invalid byte sequence" in str(error) or "element" in str(error), str(error)
                errors += 1
    assert results > 50 and errors > 300, (results, errors)


# ---- SQLite ----

def sqlite_text(db, folder):
    """JSON arrays as text."""
    path = str(scaled(folder / "json.onnx", 2))
    for text, want in {"[1,2]": [2, 4], " [ [1e0 , 2.5] ,[-3,true] ] ": [2, 5, -6, 2], "[]": [], "[[0.1,false]]": [numpy.float32(0.2), 0]}.items():
        close(json.loads(db.query("SELECT nnrt_run(?, ?)", path, text)), want, 1e-8)
    for text in ("", "x", "1", "[1,2", "[1,,2]", "[1,]", "[1 2]", "[[1],[1,2]]", "[1,[2]]", "[[1,2],3]", "[nan,1]", "[0x1,1]", "[1,2]]", "[1e999,1]",
                 "[null,1]", "[+1,1]", "[-,1]", '["1",1]', "[[1,2],[]]", "[" * 9 + "1" + "]" * 9, "[" * 100000):
        refused("no JSON array", db.query, "SELECT nnrt_run(?, ?)", path, text)
    for arguments in "", "1", "x'00'", "1, 2":
        refused("path of a model", db.query, "SELECT nnrt_run(%s)" % arguments)
    refused("has 1 inputs and received 126", db.query, "SELECT nnrt_run(?%s)" % (",1" * 126), path)
    refused("wrong number of arguments", db.query, "SELECT nnrt_info(?, 1)", path)
    assert db.query("SELECT json_extract(nnrt_run(?, x'0000803F00000040'), '$[1]')", path) == 4
    refused("2\\^53", db.query, "SELECT nnrt_run(?, 9007199254740993)", path)


def sqlite_search(db, folder):
    """The search of docs/sql.md: the rows nearest to a question, as numpy sorts them. NULL, other types of arguments."""
    data = folder / "text-data"
    data.mkdir()
    text_case.main(data)
    path = str(data / "encoder.gguf")
    draw = random.Random(1)
    texts = [" ".join(draw.choices(["un", "unable", "the", "cats", "cat", "sat", ".", "a", "cafe"], k=draw.randint(1, 12))) for _ in range(300)]
    db.db.execute("CREATE TABLE notes(id INTEGER PRIMARY KEY, body TEXT, vector BLOB)")
    db.db.executemany("INSERT INTO notes(body) VALUES (?)", [(t,) for t in texts])
    db.db.execute("UPDATE notes SET vector = nnrt_embed(?, body)", (path,))
    vectors = numpy.array([numpy.frombuffer(v, "<f4") for v, in db.db.execute("SELECT vector FROM notes ORDER BY id")], "float64")
    close(numpy.linalg.norm(vectors, axis=1), [1] * 300, 0, 1e-6)
    question = numpy.frombuffer(db.query("SELECT nnrt_embed(?, 'The cats')", path), "<f4")
    rows = db.db.execute("SELECT id - 1, nnrt_cosine(vector, (SELECT nnrt_embed(?, 'The cats'))) AS c FROM notes ORDER BY c DESC, id LIMIT 20", (path,)).fetchall()
    want = vectors @ question
    close([c for _, c in rows], numpy.sort(want)[::-1][:20], 0, 1e-6)
    close([want[i] for i, _ in rows], [c for _, c in rows], 0, 1e-6)
    page = (HERE / "docs/sql.md").read_text()
    [(program, output)] = re.findall(r"```sql\n(\.load[^`]*?nnrt_embed.*?)```\n\n```text\n(.*?)```", page, re.S)
    program = program.replace("build/sql/nnrt_sqlite", db.extension[:-3]).replace("build/text-data", str(data))
    if "asan" not in db.extension:  # the program sqlite3 would need the library of the sanitizer
        done = subprocess.run(["sqlite3"], input=program.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.stdout.decode() == output, done.stdout
    for arguments in "NULL, 'a'", "?1, NULL", "?1, 'a', NULL":
        assert db.query("SELECT nnrt_embed(%s)" % arguments, *([path] if "?1" in arguments else [])) is None
    for arguments in "?", "?, 1", "?, x'00'", "?, 'a', 1", "?, 'a', 'b', 'c'":
        refused("the arguments are texts", db.query, "SELECT nnrt_embed(%s)" % arguments, path)
    for arguments in "1, 2", "'abcd', 'abcd'", "x'00', x'00'", "x'0000', x'0000'":
        refused("nnrt_cosine: the arguments must be BLOBs", db.query, "SELECT nnrt_cosine(%s)" % arguments)
    assert db.query("SELECT nnrt_cosine(NULL, x'00000000')") is None and db.query("SELECT nnrt_cosine(x'', x'')") is None
    refused("unsafe use of nnrt_embed", lambda: (db.db.execute("CREATE VIEW w AS SELECT nnrt_embed('a', 'b') AS e"), db.query("SELECT e FROM w")))
    db.db.execute("CREATE VIEW near AS SELECT nnrt_cosine(vector, vector) AS c FROM notes")
    close([db.query("SELECT min(c) FROM near")], [1], 1e-6)


def sqlite_names(db, folder):
    """A message is UTF-8, also if a name in a file or a path is not; valid characters stay."""
    path = scaled(folder / "na\u00efve \u4e2d\U0001f600.onnx", 2, [2])
    refused("na\u00efve \u4e2d\U0001f600.onnx: input 'x' is float32", db.call, "nnrt_run", path, b"")
    for name in b"\xe9", b"\x80", b"\xc1", b"\xf5", b"\xff":
        (folder / "name.onnx").write_bytes(path.read_bytes().replace(b"\x01x", b"\x01" + name))
        os.utime(folder / "name.onnx", ns=(0, name[0]))
        refused(r"name.onnx: input '\?' is float32", db.call, "nnrt_run", folder / "name.onnx", b"")
    for text, want in {b"\xe0\x9f\xbf": "???", b"\xed\xa0\x80": "???", b"\xf0\x8f\xbf\xbf": "????", b"\xf4\x90\x80\x80": "????", b"\xc3": "?",
                       b"\xef\xbf\xbf\xe0\xa0\x80": "\uffff\u0800"}.items():
        refused("^" + re.escape(want) + ": No such file", db.query, "SELECT nnrt_info(CAST(? AS TEXT))", text)


def sqlite_trust(db, folder):
    """A view may not call the functions: its database may come from elsewhere."""
    path = scaled(folder / "trust.onnx", 2)
    db.db.execute("CREATE VIEW v AS SELECT nnrt_info('%s') AS i" % path)
    refused("unsafe use of nnrt_info", db.query, "SELECT i FROM v")
    refused("non-deterministic|unsafe", db.query, "CREATE TABLE t(a, b GENERATED ALWAYS AS (nnrt_info(a)))")


def sqlite_memory(db, folder):
    """The limit on the memory of a connection: a small file with a large intermediate; models that exceed it together."""
    x = numpy.ones(1, "float32")
    refused("limit of this connection: [0-9]+ MB", db.call, "nnrt_run", wide(folder, "wide.onnx", 2**29), x)
    for i in range(3 if "asan" in db.extension else 1):  # 64 MB each, of 160 MB with sanitizers (sql.mk)
        close(db.call("nnrt_run", wide(folder, "wide%d.onnx" % i, 2**24 + i), x), [(2**24 + i) * numpy.sin(1)], 1e-2)


def sqlite_threads(db, folder):
    """A connection for each thread; closing frees all."""
    path, wrong = scaled(folder / "thread.onnx", 2), []

    def work(seed):
        own = SQLite(db.extension)
        x = numpy.random.default_rng(seed).random((50, 2), dtype="float32")
        own.db.execute("CREATE TABLE t(x)")
        own.db.executemany("INSERT INTO t VALUES (?)", [(row.tobytes(),) for row in x])
        got = [json.loads(r) for r, in own.db.execute("SELECT nnrt_run(?, x) FROM t", (str(path),))]
        wrong.extend([] if numpy.allclose(got, 2 * x, 1e-6) else [seed])
        own.db.close()
    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def sqlite_locale(db, folder):
    """An application whose locale has decimal commas."""
    if "asan" in db.extension:
        return  # localedef takes ten seconds with the sanitizer
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", folder / "de_DE.UTF-8"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert made.returncode in (0, 1) and (folder / "de_DE.UTF-8").exists(), "localedef fails: the package locales has its data"
    script = ("import locale, sqlite3, sys; assert locale.setlocale(locale.LC_ALL, 'de_DE.UTF-8') and locale.str(0.5) == '0,5'\n"
              "db = sqlite3.connect(':memory:'); db.enable_load_extension(True); db.load_extension(sys.argv[1])\n"
              "print(db.execute('SELECT nnrt_run(?, ?)', (sys.argv[2], '[0.25,1.5]')).fetchone()[0], locale.str(0.5))")
    path = scaled(folder / "locale.onnx", 2)
    got = subprocess.run([sys.executable, "-c", script, db.extension, path], env=dict(os.environ, LOCPATH=str(folder)), check=True, stdout=subprocess.PIPE)
    assert got.stdout.decode() == "[0.5,3] 0,5\n", got.stdout


# ---- PostgreSQL ----

def postgres_rows(db, folder):
    """Tables, NULL, arrays of each type, a parallel query."""
    path = str(scaled(folder / "rows.onnx", 2))
    db.query("CREATE TABLE rows AS SELECT i, CASE WHEN i %% 10 > 0 THEN ARRAY[i, i / 2.0]::real[] END AS x FROM generate_series(1, 20000) i")
    db.query("ANALYZE rows")
    for settings in "", "SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET min_parallel_table_scan_size = 0;":
        assert db.query(settings + "SELECT sum((nnrt_run(%s, x))[2]::double precision) FROM rows", path) == sum(i for i in range(20001) if i % 10)
    assert "Parallel" in json.dumps(db.query("EXPLAIN (FORMAT json) SELECT sum((nnrt_run(%s, x))[2]::double precision) FROM rows", path))
    db.query("RESET ALL")
    for kind in "smallint", "integer", "bigint", "real", "double precision":
        assert db.query("SELECT nnrt_run(%%s, ARRAY[[1,2],[3,4]]::%s[])" % kind, path) == [2, 4, 6, 8]
    refused("an element of an array is NULL", db.query, "SELECT nnrt_run(%s, ARRAY[1,NULL]::real[])", path, code="22004")
    for kind in "numeric", "text":
        refused("has the type %s" % kind, db.query, "SELECT nnrt_run(%%s, ARRAY[1,2]::%s[])" % kind, path, code="42804")
    refused("has the type unknown", db.query, "SELECT nnrt_run(%s, '{1,2}')", path, code="42804")
    refused("without VARIADIC", db.query, "SELECT nnrt_run(%s, VARIADIC ARRAY[1,2]::real[])", path, code="0A000")
    refused("is no real", db.query, "SELECT nnrt_run(%s, %s::bytea)", str(folder / "int64.onnx"), numpy.array([0, 1, 2**24 + 1]).tobytes(), code="22003")
    refused("is no real", db.query, "SELECT nnrt_run(%s, %s::bytea)", str(folder / "float64.onnx"), numpy.array([0, 1, 1e300]).tobytes(), code="22003")
    got = db.query("SELECT nnrt_run(%s, ARRAY['NaN','Infinity']::real[])", path)
    assert numpy.isnan(got[0]) and got[1] == numpy.inf


def postgres_permissions(db, folder):
    """Reading a file needs pg_read_server_files; a function of a role that has it may offer one model."""
    path = str(scaled(folder / "may.onnx", 2))
    db.query("CREATE ROLE plain; CREATE ROLE reader IN ROLE pg_read_server_files")
    db.query("CREATE FUNCTION twice(x real[]) RETURNS real[] LANGUAGE sql SECURITY DEFINER AS $$ SELECT nnrt_run('%s', x) $$" % path)
    try:
        db.query("SET ROLE plain")
        for call in "nnrt_run(%s, 1)", "nnrt_run_all(%s, 1)", "nnrt_run_bytea(%s, 1)", "nnrt_argmax(%s, 1)", "nnrt_info(%s)", "nnrt_embed(%s, 'a')":
            refused("permission denied", db.query, "SELECT " + call, path, code="42501")
        refused("permission denied", db.query, "SET nnrt.memory = '2GB'")
        assert db.query("SELECT twice(ARRAY[1,2]::real[])") == [2, 4]
        db.query("RESET ROLE; SET ROLE reader")
        assert db.query("SELECT nnrt_run(%s, ARRAY[1,2]::real[])", path) == [2, 4]
    finally:
        db.query("RESET ROLE")


def postgres_cancel(db, folder):
    """statement_timeout and pg_cancel_backend end a long run; the next one works."""
    body = helper.make_graph([helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Sin", ["a"], ["b"])], "body",
                             [helper.make_tensor_value_info(*t) for t in (("i", INT64, []), ("c", TensorProto.BOOL, []), ("a", FLOAT, [20000]))],
                             [helper.make_tensor_value_info(*t) for t in (("d", TensorProto.BOOL, []), ("b", FLOAT, [20000]))])
    path = str(model(folder / "loop.onnx", [helper.make_node("Loop", ["n", "", "x"], ["y"], body=body)],
                     [("n", INT64, []), ("x", FLOAT, [20000])], [("y", FLOAT, [20000])]))
    x = bytes(80000)
    assert db.query("SELECT nnrt_run_bytea(%s, 3, %s::bytea)", path, x).tobytes() == x
    start = time.monotonic()
    db.query("SET statement_timeout = 300")
    refused("statement timeout", db.query, "SELECT nnrt_run_bytea(%s, 1000000, %s::bytea)", path, x, code="57014")
    db.query("RESET statement_timeout")
    other = db.connect()
    timer = threading.Timer(0.3, lambda: other.cursor().execute("SELECT pg_cancel_backend(%s)", (db.pid,)))
    timer.start()
    refused("user request", db.query, "SELECT nnrt_run_bytea(%s, 1000000, %s::bytea)", path, x, code="57014")
    timer.join()
    other.close()
    assert time.monotonic() - start < 60  # neither ended by itself, which takes minutes
    assert db.query("SELECT nnrt_run_bytea(%s, 3, %s::bytea)", path, x).tobytes() == x


def postgres_memory(db, folder):
    """The setting nnrt.memory: models that exceed it, alone and together. A value of 50 MB."""
    x = numpy.ones(1, "float32")
    db.query("SET nnrt.memory = '64MB'")
    refused("limit of this connection: 64 MB", db.call, "nnrt_run", wide(folder, "set.onnx", 2**24), x, code="53200")
    db.query("SET nnrt.memory = '160MB'")
    for i in range(4):  # 64 MB each
        close(db.call("nnrt_run", wide(folder, "set%d.onnx" % i, 2**24 + i), x), [(2**24 + i) * numpy.sin(1)], 1e-2)
    db.query("RESET nnrt.memory")
    db.call("nnrt_run", folder / "set.onnx", x)
    path = str(scaled(folder / "huge.onnx", 2, [1, 2]))
    refused("received 50000000 bytes", db.query, "SELECT nnrt_run(%s, repeat('a', 50000000)::bytea)", path)


def postgres_names(db, folder):
    """Names that are no UTF-8."""
    data = scaled(folder / "name.onnx", 2, [2]).read_bytes().replace(b"\x01x", b"\x01\xe9")
    (folder / "name.onnx").write_bytes(data)
    refused("invalid byte sequence", db.call, "nnrt_info", folder / "name.onnx")
    refused(r"input '\?' is float32\[2\]", db.call, "nnrt_run", folder / "name.onnx", b"")
    assert db.call("nnrt_run", folder / "name.onnx", numpy.ones(2, "float32")) == [2, 2]


def postgres_alive(db, folder):
    """The process of the first connection is still there, after all of the above."""
    assert db.query("SELECT pg_backend_pid()") == db.pid


# ---- running ----

def tests(*kinds):
    return [(name, f) for name, f in globals().items() if name.split("_")[0] in kinds and callable(f) and "_" in name]


def run_all(label, db, folder, kinds, names):
    """Runs the tests; the number that passed and failed."""
    passed = failed = 0
    folder.mkdir(exist_ok=True)
    os.chmod(folder, 0o755)
    for name, test in tests(*kinds):
        if names and name not in names:
            continue
        start = time.monotonic()
        try:
            test(db, folder)
            passed += 1
        except Exception as error:
            failed += 1
            print("FAIL %s %s: %s: %s" % (label, name, type(error).__name__, str(error)[:1000]))
        if os.environ.get("NNRT_SQL_TIMES"):
            print("%5.1f s %s %s" % (time.monotonic() - start, label, name))
    return numpy.array([passed, failed])


def leaks(sanitized, folder):
    """The program sqlite3 under the leak sanitizer: results, errors, and closing."""
    path = scaled(folder / "leak.onnx", 2)
    script = "".join([".load %s\n" % str(sanitized)[:-3]] + ["SELECT nnrt_run('%s', %s);\n" % (path, x) for x in ("'[1,2]'", "zeroblob(16)", "'[1'", "1")] +
                     ["SELECT nnrt_info('%s');\n" % p for p in (path, "/missing", folder / "text.onnx", folder / "damaged.onnx", folder / "damaged.tflite")])
    script += "".join("SELECT length(nnrt_embed(%s));\n" % ", ".join("'%s'" % v for v in values) for values in (
        (folder / "bert.gguf", "cats"), (folder / "encoder.onnx", "cats", folder / "words.json"), (folder / "chain.gguf", "cats"), (path, "cats")))
    got = subprocess.run(["sqlite3"], input=script.encode(), env=preloaded("1"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = got.stdout.decode()
    good = "[2,4]" in text and "[0,0,0,0]" in text and "\n256\n24\n" in text and "none of an encoder" in text and "Sanitizer" not in text
    if not good:
        print("FAIL leaks: %s" % text[-1500:])
    return numpy.array([good, not good], int)


def preloaded(leak):
    name = "libclang_rt.asan-%s.so" % os.uname().machine
    runtime = subprocess.run(["clang", "-print-file-name=" + name], stdout=subprocess.PIPE, check=True).stdout.decode().strip()
    return dict(os.environ, LD_PRELOAD=runtime, ASAN_OPTIONS="detect_leaks=%s:allocator_may_return_null=1" % leak, UBSAN_OPTIONS="print_stacktrace=1")


def main(root, sanitized, bindir, *names):
    root, sanitized = pathlib.Path(root).resolve(), pathlib.Path(sanitized).resolve()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nnrt-sql-"))
    total = numpy.array([0, 0])
    server = None
    os.umask(0o022)
    try:
        os.chmod(folder, 0o755)
        shutil.copytree(DATA / "node", folder / "node")
        if bindir == "sanitized":
            total += run_all("sanitized", SQLite(sanitized), folder / "sanitized", ("test", "sqlite"), names)
        else:
            total += run_all("SQLite", SQLite(root / "usr/local/lib/nnrt_sqlite.so"), folder / "sqlite", ("test", "sqlite"), names)
            server = Server(root, bindir, folder)
            db = Postgres(server.connect)
            db.query("CREATE EXTENSION nnrt")
            total += run_all("PostgreSQL", db, folder / "postgres", ("test", "postgres"), names)
            if not names:
                again = subprocess.run([sys.executable, "-B", __file__, root, sanitized, "sanitized"], env=preloaded("0"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                print(again.stdout.decode()[-3000:], end="")
                last = re.findall(r"^(\d+) passed, (\d+) failed$", again.stdout.decode(), re.M)
                total += [int(n) for n in last[-1]] if last and again.returncode in (0, 1) else [0, 1]
                total += leaks(sanitized, folder / "sqlite")
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(folder)
    print("%d passed, %d failed" % tuple(total))
    return int(total[1] > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

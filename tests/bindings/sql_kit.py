"""For sql_test.py: the extensions by one interface, a PostgreSQL server of the tests, and models."""
import io
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import sqlite3
import subprocess
import time

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


class Refused(Exception):
    """An error of SQL: its sentence, and in PostgreSQL its code."""

    def __init__(self, text, code=""):
        super().__init__(text)
        self.code = code


class SQLite:
    BYTES = "nnrt_run_blob"

    def __init__(self, extension):
        self.extension = str(extension)
        self.open()

    def open(self):
        self.db = sqlite3.connect(":memory:", check_same_thread=False)
        self.db.enable_load_extension(True)
        self.db.load_extension(self.extension)

    def query(self, text, *values):
        try:
            return self.db.execute(text, values).fetchone()[0]
        except (sqlite3.Error, OverflowError) as error:
            raise Refused(str(error)) from None

    def call(self, function, *values):
        values = [json.dumps(v.tolist()) if isinstance(v, numpy.ndarray) else str(v) if isinstance(v, pathlib.Path) else v for v in values]
        got = self.query("SELECT %s(%s)" % (function, ",".join("?" * len(values))), *values)
        return json.loads(got) if isinstance(got, str) else got


class Postgres:
    BYTES = "nnrt_run_bytea"
    TYPES = {"float32": "real", "float64": "double precision", "int16": "smallint", "int32": "integer", "int64": "bigint", "bool": "boolean"}

    def __init__(self, connect):
        self.connect = connect
        self.open()
        self.pid = self.query("SELECT pg_backend_pid()")

    def open(self):
        self.db = self.connect()

    def query(self, text, *values):
        import psycopg2
        try:
            with self.db.cursor() as cursor:
                cursor.execute(text, values)
                return cursor.fetchone()[0] if cursor.description else None
        except psycopg2.OperationalError as error:
            assert "server closed" not in str(error), "the server process ended: %s" % error
            raise Refused(error.diag.message_primary or str(error), error.pgcode) from None
        except psycopg2.Error as error:
            raise Refused(error.diag.message_primary or str(error), error.pgcode) from None

    def call(self, function, *values):
        marks = ["%%s::%s[]" % self.TYPES[v.dtype.name] if isinstance(v, numpy.ndarray) else "%s::text" if isinstance(v, (str, pathlib.Path))
                 else "%s::bytea" if isinstance(v, bytes) else "%s::double precision" if isinstance(v, float) else "%s" for v in values]
        values = [v.tolist() if isinstance(v, numpy.ndarray) else str(v) if isinstance(v, pathlib.Path) else v for v in values]
        got = self.query("SELECT %s(%s)" % (function, ",".join(marks)), *values)
        return bytes(got) if isinstance(got, memoryview) else got


class Server:
    """A new database of an unprivileged user; its programs are found beside the installed extension in a copy of their folders."""

    def __init__(self, root, bindir, folder):
        self.user = pwd.getpwnam("postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name)
        self.base, bindir = folder / "server", pathlib.Path(bindir)
        self.bin = pathlib.Path(str(self.base) + str(bindir))
        shutil.copytree(root, self.base)
        self.bin.mkdir(parents=True)
        shutil.copy(bindir / "postgres", self.bin)
        shutil.copy(bindir / "initdb", self.bin)
        installed = [[pathlib.Path(subprocess.run([bindir / "pg_config", what], stdout=subprocess.PIPE, check=True).stdout.decode().strip())]
                     for what in ("--pkglibdir", "--sharedir")]
        for [place] in installed:
            for at in place.rglob("*"):
                to = pathlib.Path(str(self.base) + str(at))
                if at.is_dir():
                    to.mkdir(parents=True, exist_ok=True)
                else:
                    to.parent.mkdir(parents=True, exist_ok=True)
                    to.exists() or to.symlink_to(at)
        self.socket = folder / "socket"
        self.socket.mkdir()
        for path in folder, self.socket, self.base:
            os.chown(path, self.user.pw_uid, self.user.pw_gid)
        self.run("initdb", "-D", self.base / "data", "-A", "trust", "-U", "tester", "-E", "UTF8", "--locale=C", "-N").wait()
        self.log = open(folder / "log", "wb")
        self.process = self.run("postgres", "-D", self.base / "data", "-k", self.socket, "-h", "", "-F", log=self.log)

    def run(self, program, *arguments, log=subprocess.DEVNULL):
        def drop():
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(self.user.pw_gid)
                os.setuid(self.user.pw_uid)
        return subprocess.Popen([self.bin / program, *arguments], preexec_fn=drop, cwd=self.base, stdout=log, stderr=log)

    def connect(self):
        import psycopg2
        for _ in range(100):
            try:
                db = psycopg2.connect(host=str(self.socket), user="tester", dbname="postgres")
                db.autocommit = True
                return db
            except psycopg2.OperationalError:
                assert self.process.poll() is None, "the server does not start"
                time.sleep(0.1)
        raise AssertionError("the server does not answer")

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGQUIT)
        self.log.close()


# ---- models and results ----


def model(path, nodes, inputs, outputs, **constants):
    """Writes an ONNX file. inputs, outputs: (name, type, dimensions) each."""
    infos = [[helper.make_tensor_value_info(*i) for i in tensors] for tensors in (inputs, outputs)]
    graph = helper.make_graph(nodes, "g", *infos, initializer=[numpy_helper.from_array(v, n) for n, v in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))
    return path


def scaled(path, factor, dims=("N", 2)):
    """y = factor * x"""
    return model(path, [helper.make_node("Mul", ["x", "f"], ["y"])], [("x", FLOAT, dims)], [("y", FLOAT, dims)], f=numpy.float32(factor))


def npy(array):
    file = io.BytesIO()
    numpy.save(file, array)
    return file.getvalue()


def refused(sentence, call, *values, code=None):
    """The call must fail with a sentence like this."""
    try:
        got = call(*values)
    except Refused as error:
        assert re.search(sentence, str(error)), "%r has no %r" % (str(error), sentence)
        assert code is None or error.code in ("", code), "%r has the code %s" % (str(error), error.code)
        return
    raise AssertionError("no error but %r, expected %r" % (got, sentence))


def close(got, want, rtol=1e-6, atol=1e-6):
    numpy.testing.assert_allclose(numpy.asarray(got, "float64"), numpy.asarray(want, "float64").ravel(), rtol, atol)


def wide(folder, name, elements):
    """y = sum of elements times x, with an intermediate of that many elements"""
    return model(folder / name, [helper.make_node("Expand", ["x", "s"], ["e"]), helper.make_node("Sin", ["e"], ["t"]),
                                 helper.make_node("ReduceSum", ["t"], ["y"])],
                 [("x", FLOAT, [1])], [("y", FLOAT, [1])], s=numpy.array([elements], "int64"))

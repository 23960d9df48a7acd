"""Tests nnrt batch on many processes: killed and continued, in shards, under MPI, Slurm and Dask; and the Fortran module.

usage: batch_test.py, from the root of the tree, after `make batch-test` has built the programs. Expected results come from one
process that is not disturbed, and from nnrt.InferenceSession, sample by sample. Prints "N passed, N failed".

batch_test.py bench PICTURES: so many pictures over eight ranks of MPI, of which one is killed at any time, until they are done: the bytes
of one process; and the pictures a second of two ranks relative to one. Needs 3.2 KB of disk for each picture.
"""
import filecmp
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
NNRT, MPI, DIGITS = str(ROOT / "build/nnrt"), str(ROOT / "build/nnrt-mpi"), str(ROOT / "examples/digits/digits.onnx")
COUNT = 4000
counts = {"passed": 0, "failed": 0}


def check(name, holds, *about):
    counts["passed" if holds else "failed"] += 1
    if not holds:
        print("FAIL", name, *about)


def command(out, *options, model=DIGITS, samples=None, program=NNRT):
    """The command batch, on the slow device, so that a run takes seconds."""
    return [program, "batch", model, "--input", str(samples or TEMP / "x.npy"), "--output", str(out), "--device", "reference", *options]


def run(arguments, **more):
    return subprocess.run(arguments, capture_output=True, text=True, check=False, **more)


def same(name, out, output="probabilities.npy", expected=None):
    """The bytes of one undisturbed process, and no other files."""
    got = out / output
    check(name + ": bytes", got.exists() and got.read_bytes() == (expected or EXPECTED))
    check(name + ": nothing left", not (out / "chunks").exists() and not list(out.glob("*.tmp")), *out.rglob("*"))


def chunks(out):
    """The files of the chunks: name, and identity of the contents."""
    return {p.name: (p.stat().st_ino, p.stat().st_mtime_ns) for p in (out / "chunks").glob("*.npy")}


def dynamic_model(path):
    """y = x*W: [n,3] times [3,2]."""
    w = numpy.arange(6, dtype=numpy.float32).reshape(3, 2)
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 2])], [numpy_helper.from_array(w, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return w


def test_batches():
    """--batch: the rows of a dynamic first dimension, a last run that is not full, .csv."""
    w = dynamic_model(TEMP / "rows.onnx")
    x = numpy.arange(33, dtype=numpy.float32).reshape(11, 3)
    numpy.savetxt(TEMP / "rows.csv", x, delimiter=";", header="a;b;c", comments="")
    for options in ((), ("--batch", "4"), ("--batch", "4", "--chunk", "6"), ("--jobs", "3", "--batch", "2")):
        out = TEMP / ("rows" + "_".join(options))
        got = run(command(out, *options, model=str(TEMP / "rows.onnx"), samples=TEMP / "rows.csv"))
        check("batch %s" % (options,), got.returncode == 0 and (numpy.load(out / "y.npy") == x @ w).all(), got.stderr)


def test_unfinished():
    """A manifest that a killed process had begun is removed with the chunks; files of others stay."""
    out = TEMP / "unfinished"
    out.mkdir()
    for name in ("batch.txt.7.tmp", "mine.tmp"):
        (out / name).write_text("half a")
    got = run(command(out))
    check("unfinished", got.returncode == 0 and sorted(p.name for p in out.glob("*.tmp")) == ["mine.tmp"], got.stderr, *out.rglob("*"))


def test_killed():
    """Killed with SIGKILL, with all its processes, at random times: before, while or after it has written a chunk."""
    out, kills, seen, again = TEMP / "killed", 0, {}, 0
    for attempt in range(40):
        process = subprocess.Popen(command(out, "--jobs", "2", "--chunk", "40"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        while attempt % 4 > 0 and process.poll() is None and len(chunks(out)) < len(seen) + attempt % 4:
            time.sleep(0.001)
        try:
            process.wait(random.uniform(0, 0.05) if kills < 15 else None)
        except subprocess.TimeoutExpired:
            kills += 1
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        now = chunks(out)
        again += sum(now.get(name) not in (None, identity) for name, identity in seen.items())
        seen.update(now)
        if process.returncode == 0:
            break
    check("killed: at least 10 times", kills >= 10, kills)
    check("killed: no chunk was computed twice", again == 0, again)
    check("killed: the runs had chunks", len(seen) >= 10, len(seen))
    same("killed %d times" % kills, out)
    got = run(command(out, "--chunk", "40"))
    check("killed: the next run has nothing to do", "computed    0 now, %d before" % COUNT in got.stdout, got.stdout, got.stderr)


def test_shards():
    """--shard I/N and the environments of Slurm, Kubernetes and GNU parallel; --merge, too early and in time."""
    variables = [lambda i: {"SLURM_ARRAY_TASK_ID": str(10 + 2 * i), "SLURM_ARRAY_TASK_MIN": "10", "SLURM_ARRAY_TASK_MAX": "14", "SLURM_ARRAY_TASK_COUNT": "3"},
                 lambda i: {"JOB_COMPLETION_INDEX": str(i)}, lambda i: {"PARALLEL_SEQ": str(i + 1)}]
    for number, (shard, environment) in enumerate(zip(("env", "env/3", "env/3"), variables)):
        out = TEMP / ("shards%d" % number)
        for i in 1, 0, 2:
            early = run(command(out, "--merge"))
            check("merge, too early", early.returncode == 1 and ("lacks" in early.stderr or "nothing was computed" in early.stderr), early.stderr)
            got = run(command(out, "--shard", shard), env={**os.environ, **environment(i)})
            check("shard %d of %s" % (i, shard), got.returncode == 0 and "shard %d of 3" % i in got.stdout, got.stdout, got.stderr)
        got = run(command(out, "--merge"))
        check("merge", got.returncode == 0, got.stderr)
        same("shards by %s" % shard, out)
    out = TEMP / "once"
    processes = [subprocess.Popen(command(out), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    check("three processes at once", all(p.wait() == 0 for p in processes), *(p.stderr.read() for p in processes))
    same("three processes at once", out)


def test_last():
    """Of three processes that end at the same time, one removes the chunks. Before each gave up its lock, 1 of 8 rounds left them."""
    numpy.save(TEMP / "few.npy", numpy.load(TEMP / "x.npy")[:30])
    left = 0
    for number in range(30):
        out = TEMP / ("last%d" % number)
        processes = [subprocess.Popen(command(out, samples=TEMP / "few.npy"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(3)]
        codes = [p.wait() for p in processes]
        left += any(codes) or (out / "chunks").exists()
    check("the last of three processes removes the chunks", left == 0, left)


def mpirun(ranks, *arguments):
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return subprocess.Popen(["mpirun", "--oversubscribe", "-n", str(ranks), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=environment, start_new_session=True)


def children(pid):
    return [int(c) for c in pathlib.Path("/proc/%d/task/%d/children" % (pid, pid)).read_text().split()]


def test_mpi():
    """Eight ranks, one of them killed; then all again."""
    out = TEMP / "mpi"
    process = mpirun(8, *command(out, program=MPI))
    while process.poll() is None and not chunks(out):
        time.sleep(0.01)
    ranks = children(process.pid)
    if ranks:
        os.kill(random.choice(ranks), signal.SIGKILL)
    _, error = process.communicate()
    check("mpi: a killed rank ends the job", process.returncode != 0, process.returncode, error)
    check("mpi: it was not done", chunks(out) and not (out / "probabilities.npy").exists())
    process = mpirun(8, *command(out, program=MPI))
    text, error = process.communicate()
    check("mpi: again", process.returncode == 0 and "shard 7 of 8" in text, text, error)
    same("mpi: a rank killed, and again", out)
    process = mpirun(2, MPI, "info", DIGITS)
    check("mpi: another command", "runs 'nnrt-mpi batch' only" in process.communicate()[1] and process.returncode == 2)


SLURM = """ClusterName=nnrt
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmctldPort={port}
SlurmdPort={second}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SchedulerParameters=sched_interval=1,batch_sched_delay=0
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def free_ports():
    sockets = [socket.socket() for _ in range(2)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def slurm_start(folder):
    """A cluster of this machine, below folder; returns the environment of its commands."""
    host, (port, second) = socket.gethostname().partition(".")[0], free_ports()
    for name in "state", "spool":
        (folder / name).mkdir()
    (folder / "munge.key").write_bytes(os.urandom(1024))
    (folder / "munge.key").chmod(0o400)
    (folder / "slurm.conf").write_text(SLURM.format(host=host, folder=folder, port=port, second=second, cpus=os.cpu_count()))
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
    for arguments in (["munged", "--force", "--socket=%s/munge.socket" % folder, "--key-file=%s/munge.key" % folder, "--pid-file=%s/munged.pid" % folder,
                       "--log-file=%s/munged.log" % folder, "--seed-file=%s/munged.seed" % folder], ["slurmctld"], ["slurmd", "-N", host]):
        done = run(arguments, env=environment)
        if done.returncode != 0:
            raise RuntimeError("%s: %s" % (arguments[0], done.stderr.strip()))
    for _ in range(100):
        if "idle" in run(["sinfo", "-h", "-o", "%t"], env=environment).stdout:
            return environment
        time.sleep(0.1)
    raise RuntimeError("the node does not become idle: " + (folder / "slurmd.log").read_text()[-400:])


def slurm_stop(folder, environment):
    run(["scontrol", "shutdown"], env=environment)
    for name in "slurmctld.pid", "slurmd.pid", "munged.pid":
        try:
            os.kill(int((folder / name).read_text()), signal.SIGTERM)
        except (OSError, ValueError):
            pass


def test_slurm():
    """An array job of a cluster with one node, and a job that waits for it and joins the chunks."""
    folder, out = TEMP / "slurm", TEMP / "array"
    folder.mkdir()
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
    try:
        environment = slurm_start(folder)
    except (OSError, RuntimeError) as reason:
        print("skipped: Slurm does not run here:", reason)
        slurm_stop(folder, environment)
        return
    shard, join = folder / "shard.sh", folder / "join.sh"
    shard.write_text("#!/bin/sh\nexec %s\n" % " ".join(command(out, "--shard", "env")))
    join.write_text("#!/bin/sh\nexec %s\n" % " ".join(command(out, "--merge")))
    array = run(["sbatch", "--parsable", "--array=0-3", "--output=%s/%%a.txt" % folder, str(shard)], env=environment)
    got = run(["sbatch", "--wait", "--dependency=afterok:" + array.stdout.strip(), "--output=%s/join.txt" % folder, str(join)], env=environment)
    check("slurm: array job and join", got.returncode == 0, array.stderr, got.stderr, *(p.read_text() for p in folder.glob("*.txt")))
    check("slurm: four shards", all("shard %d of 4" % i in (folder / ("%d.txt" % i)).read_text() for i in range(4)))
    slurm_stop(folder, environment)
    same("slurm", out)


def test_fortran():
    """The module gives the bits of the same device in C; wrong arguments give a status and a message."""
    x = numpy.load(TEMP / "x.npy")[:100]
    x.tofile(TEMP / "x.bin")
    got = run([str(ROOT / "build/fortran/test"), DIGITS, str(TEMP / "x.bin"), str(TEMP / "y.bin"), str(len(x))])
    check("fortran", got.returncode == 0, got.stdout, got.stderr)
    fast = run([NNRT, "batch", DIGITS, "--input", str(TEMP / "x.npy"), "--samples", "100", "--output", str(TEMP / "fast")])
    check("fortran: bits", fast.returncode == 0 and (TEMP / "y.bin").read_bytes() == numpy.load(TEMP / "fast/probabilities.npy").tobytes(), fast.stderr)
    got = run([str(ROOT / "build/fortran/example"), DIGITS])
    check("fortran: example", got.returncode == 0 and got.stdout.count("digit 1,") == 3, got.stdout, got.stderr)
    got = run([str(ROOT / "build/fortran/example"), "none.onnx"])
    check("fortran: example, no file", got.returncode == 1 and "none.onnx" in got.stderr, got.stderr)


def test_dask():
    """The program of docs/batch.md on two workers, which are processes."""
    text = (ROOT / "docs/batch.md").read_text()
    program = text[text.index("```python\n") + 10:]
    program = program[:program.index("```")]
    (TEMP / "program.py").write_text(program)
    shutil.copy(DIGITS, TEMP / "digits.onnx")
    shutil.copy(TEMP / "x.npy", TEMP / "images.npy")
    got = run([sys.executable, "-B", "program.py"], cwd=TEMP, env={**os.environ, "PYTHONPATH": str(ROOT / "build/python/site")})
    check("dask: the program of docs/batch.md", got.returncode == 0, got.stdout, got.stderr[-800:])
    # float32 of another device: 1e-5, as nnrt compare allows
    check("dask: results", (TEMP / "probabilities.npy").exists() and
          numpy.allclose(numpy.load(TEMP / "probabilities.npy"), numpy.load(TEMP / "one/probabilities.npy"), rtol=1e-4, atol=1e-5))


def test_faults():
    """A full disk and a lost worker end the command with a message, and the next one continues."""
    out = TEMP / "full"
    got = run(["sh", "-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh", *command(out, "--chunk", "512")])
    check("a full disk", got.returncode == 1 and "cannot write all of %s/chunks/probabilities.000000.npy: File too large" % out in got.stderr, got.stderr)
    check("a full disk: no file", not chunks(out) and not list((out / "chunks").iterdir()))
    got = run(command(out, "--chunk", "512"))
    same("a full disk, and again", out)
    out = TEMP / "worker"
    process = subprocess.Popen(command(out, "--jobs", "2"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not chunks(out):
        time.sleep(0.01)
    workers = children(process.pid)
    if workers:
        os.kill(workers[0], signal.SIGKILL)
    _, error = process.communicate()
    check("a killed worker", process.returncode == 1 and "ended by signal 9" in error, process.returncode, error)
    check("a killed worker, and again", run(command(out, "--jobs", "2")).returncode == 0)
    same("a killed worker", out)


def write_pictures(path, count):
    """Random pictures."""
    random_state = numpy.random.default_rng(1)
    pictures = numpy.lib.format.open_memmap(path, "w+", numpy.float32, (count, 1, 28, 28))
    for first in range(0, count, 10000):
        pictures[first:first + 10000] = random_state.random((min(10000, count - first), 1, 28, 28), numpy.float32)


def bench(count):
    """Ranks have one thread each. The times include the start of mpirun; other programs on the machine disturb them: the least of three."""
    write_pictures(TEMP / "pictures.npy", count)

    def ranks(number, out):
        return mpirun(number, MPI, "batch", DIGITS, "--input", str(TEMP / "pictures.npy"), "--output", str(TEMP / out), "--threads", "1")
    seconds = {1: [], 2: []}
    for number in 3 * [1, 2]:
        shutil.rmtree(TEMP / str(number), ignore_errors=True)
        begin = time.monotonic()
        check("%d ranks" % number, ranks(number, str(number)).wait() == 0)
        seconds[number].append(time.monotonic() - begin)
        print("%d pictures, ranks %d: %.1f s, %.0f pictures/s; load %.1f" % (count, number, seconds[number][-1], count / seconds[number][-1], os.getloadavg()[0]))
    share = min(seconds[1]) / min(seconds[2]) / 2
    print("two ranks: %.2f of twice the pictures of one, target 0.95: %s" % (share, "met" if share >= 0.95 else "missed"))
    begin, killed = time.monotonic(), 0
    while True:
        process = ranks(8, "killed")
        try:
            process.wait(random.uniform(1, 1 + min(seconds[2]) / 4) if killed < 8 else None)
            break
        except subprocess.TimeoutExpired:
            os.kill(random.choice(children(process.pid)), signal.SIGKILL)
            process.wait()
            killed += 1
    check("eight ranks", process.returncode == 0)
    print("eight ranks, killed %d times and started again: %.1f s" % (killed, time.monotonic() - begin))
    for number in "2", "killed":
        check("the bytes of one rank: " + number, filecmp.cmp(TEMP / "1/probabilities.npy", TEMP / number / "probabilities.npy", shallow=False))
    print("%d passed, %d failed" % (counts["passed"], counts["failed"]))
    return counts["failed"] > 0


def main():
    global EXPECTED
    write_pictures(TEMP / "x.npy", COUNT)
    got = run(command(TEMP / "one"))
    check("one process", got.returncode == 0, got.stderr)
    EXPECTED = (TEMP / "one/probabilities.npy").read_bytes()
    sys.path.insert(0, str(ROOT / "build/python/site"))
    import nnrt
    session = nnrt.InferenceSession(DIGITS, providers=["reference"])
    x = numpy.load(TEMP / "x.npy")
    check("one process: the bits of InferenceSession", all((session.run(None, {"image": x[i:i + 1]})[0] == row).all()
                                                          for i, row in enumerate(numpy.load(TEMP / "one/probabilities.npy"))))
    for test in test_batches, test_unfinished, test_killed, test_shards, test_last, test_faults, test_mpi, test_slurm, test_fortran, test_dask:
        begin = time.monotonic()
        test()
        print("%-14s %.1f s" % (test.__name__[5:], time.monotonic() - begin))
    print("%d passed, %d failed" % (counts["passed"], counts["failed"]))
    return counts["failed"] > 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        TEMP, EXPECTED = pathlib.Path(folder), b""
        random.seed(int(os.environ.get("SEED", "1")))
        sys.exit(bench(int(sys.argv[2])) if sys.argv[1:2] == ["bench"] else main())

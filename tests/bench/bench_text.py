#!/usr/bin/env python3
"""Speed of a language model beside llama.cpp: a random decoder of SmolLM2-135M's sizes.

    bench_text.py [--kind Q4_0] [--threads 1] [--rounds 5] [--device cpu] [--modules DIR] NNRT

Prints the time from a prompt of 8, 128 and 1024 tokens to the first token, and that of a step after it (median), of both in turns, the
least of all rounds; then their ratio. The step also as percent of the rate at which as many threads read memory (memcmp): the bytes of
the file's matrices that a step multiplies. DIR/node_modules has node-llama-cpp (npm install node-llama-cpp); without it only the times
of nnrt are printed.
"""
import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../formats'))
import gguf_models  # noqa: E402

PROMPTS, TOKENS, VOCABULARY = (8, 128, 1024), 25, 49152
SIZES = dict(width=576, inner=1536, heads=9, kv=3, size=64, layers=30, vocabulary=VOCABULARY, places=2048)
PEER = """
import { getLlama } from 'node-llama-cpp';
const [path, ids, tokens, threads] = process.argv.slice(2), times = [];
const llama = await getLlama({ gpu: false, maxThreads: +threads, build: 'never', logLevel: 'error' });
const model = await llama.loadModel({ modelPath: path });
const context = await model.createContext({ contextSize: 2048, threads: +threads, batchSize: 512 });
const next = context.getSequence().evaluate(JSON.parse(ids), { temperature: 0, yieldEogToken: true });
for (let i = 0; i < +tokens; i++) {
    const start = process.hrtime.bigint();
    await next.next();
    times.push(Number(process.hrtime.bigint() - start) / 1e6);
}
const steps = times.slice(1).sort((x, y) => x - y);
console.log(JSON.stringify([times[0], steps[steps.length >> 1]]));
process.exit(0);
"""


def read_rate(threads, size=1 << 28):
    """Bytes a second that `threads` threads read, the most of some tries."""
    libc = ctypes.CDLL(None)
    libc.memcmp.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    blocks = [(ctypes.c_char * size)() for _ in range(threads)]
    for block in blocks:
        ctypes.memset(block, 1, size)
    best = 0
    for _ in range(8):
        def read(block):
            libc.memcmp(block, ctypes.addressof(block) + size // 2, size // 2)
        workers = [threading.Thread(target=read, args=(block,)) for block in blocks]
        start = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        best = max(best, size * threads / (time.perf_counter() - start))
    return best


def run_nnrt(args, file, ids):
    done = subprocess.run([args.nnrt, 'generate', file, '--ids', ','.join(map(str, ids)), '--tokens', str(TOKENS), '--threads',
                           str(args.threads), '--device', args.device, '--json'], check=True, capture_output=True, text=True)
    said = json.loads(done.stdout)
    return said['first_ms'], said['step_ms']


def run_peer(args, script, file, ids):
    done = subprocess.run(['node', script, file, json.dumps(ids), str(TOKENS), str(args.threads)], check=True, capture_output=True,
                          text=True)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('nnrt')
    parser.add_argument('--kind', default='Q4_0', choices=[kind for kind in gguf_models.TYPES if not kind.endswith('_K')])
    parser.add_argument('--threads', type=int, default=1)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--device', default='cpu', help='such as cpu-avx2')
    parser.add_argument('--modules', default='', metavar='DIR')
    args = parser.parse_args()
    peer = os.path.isdir(os.path.join(args.modules, 'node_modules/node-llama-cpp'))
    if not peer:
        print('without llama.cpp: MODULES=DIR names the folder of node_modules/node-llama-cpp')
    gguf_models.VOCABULARY = VOCABULARY
    model = gguf_models.make('llama', args.kind, **SIZES)
    read = sum(len(raw) for name, shape, _, raw in model.tensors if len(shape) == 2 and name != 'token_embd.weight')
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, 'model.gguf')
        with open(file, 'wb') as f:
            f.write(model.bytes())
        model = None
        script = os.path.join(args.modules, 'nnrt_bench_peer.mjs')
        if peer:
            with open(script, 'w', encoding='ascii') as f:
                f.write(PEER)
        rate = read_rate(args.threads)
        print('%s, %d threads, %.1f MB of matrices in a step, memory is read at %.1f GB/s'
              % (args.kind, args.threads, read / 1e6, rate / 1e9))
        print('prompt  first ms   llama.cpp  ratio   step ms   llama.cpp  ratio   read')
        for count in PROMPTS:
            ids = [1] + [300 + 37 * i % 40000 for i in range(count - 1)]
            ours, theirs = [], []
            for _ in range(args.rounds):
                ours.append(run_nnrt(args, file, ids))
                theirs.append(run_peer(args, script, file, ids) if peer else (float('nan'),) * 2)
            (first, step), (other, others) = (tuple(map(min, zip(*times))) for times in (ours, theirs))
            print('%6d  %8.1f  %10.1f  %5.2f  %8.2f  %10.2f  %5.2f  %4.0f%%'
                  % (count, first, other, first / other, step, others, step / others, 100 * read / (step / 1e3 * rate)), flush=True)
        if peer:
            os.remove(script)
    return 0


if __name__ == '__main__':
    sys.exit(main())

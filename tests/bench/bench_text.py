#!/usr/bin/env python3
"""Speed of a language model beside llama.cpp and ONNX Runtime: a random decoder of SmolLM2-135M's sizes.

    bench_text.py [--kind Q4_0] [--threads 1] [--rounds 5] [--device cpu] [--prompts "8 128 1024"] [--modules "DIR .."] NNRT

Prints the time from a prompt of 8, 128 and 1024 tokens to the first token, and that of a step after it (median), of all in turns, the
least of all rounds; then the ratio of nnrt's time to each of the others. The step also as percent of the rate at which as many threads
read memory (memcmp): the bytes of the file's matrices that a step multiplies.

Each DIR/node_modules may have node-llama-cpp and onnxruntime-node (npm install); without them only the times of nnrt are printed.
llama.cpp runs the same file. ONNX Runtime runs a decoder of the same sizes in the form of its own exporter: MatMulNBits
(accuracy_level 4) and GroupQueryAttention with a cache that it updates in place. MatMulNBits has blocks of 32 entries of 4 or 8 bits
with a float32 scale, for types with minima also a zero point, so it reads more bytes than the file has.

Types of 256 elements a block (Q4_K, Q6_K, ..) need rows of whole blocks: sizes near those of SmolLM2-135M, with as many parameters.
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

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../formats'))
import gguf_models  # noqa: E402

TOKENS, VOCABULARY, PLACES = 25, 49152, 2048
SIZES = dict(width=576, inner=1536, heads=9, kv=3, size=64, layers=30, vocabulary=VOCABULARY, places=PLACES)
SIZES_256 = dict(SIZES, width=768, inner=2048, heads=12, kv=4, layers=16)
LLAMA = """
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
ORT = """
import ort from 'onnxruntime-node';
const [path, ids, tokens, threads] = process.argv.slice(2), times = [];
const session = await ort.InferenceSession.create(path, { intraOpNumThreads: +threads, interOpNumThreads: 1, logSeverityLevel: 4 });
const int64 = (list, dims) => new ort.Tensor('int64', BigInt64Array.from(list, BigInt), dims);
const feeds = {}, fetches = { logits: null };
for (const { name, shape } of session.inputMetadata.filter((x) => x.name.startsWith('past'))) {
    const dims = [1, shape[1], PLACES, shape[3]];
    feeds[name] = new ort.Tensor('float32', new Float32Array(dims.reduce((a, b) => a * b)), dims);
    fetches[name.replace('past_key_values', 'present')] = feeds[name];
}
let next = JSON.parse(ids), known = 0;
for (let i = 0; i < +tokens; i++) {
    const start = process.hrtime.bigint();
    known += next.length;
    feeds.input_ids = int64(next, [1, next.length]);
    feeds.attention_mask = int64(new Array(known).fill(1), [1, known]);
    const { logits } = await session.run(feeds, fetches);
    let best = 0;
    for (let j = 1; j < logits.data.length; j++)
        best = logits.data[j] > logits.data[best] ? j : best;
    times.push(Number(process.hrtime.bigint() - start) / 1e6);
    next = [best];
}
const steps = times.slice(1).sort((x, y) => x - y);
console.log(JSON.stringify([times[0], steps[steps.length >> 1]]));
process.exit(0);
""".replace('PLACES', str(PLACES))
PEERS = (('llama.cpp', 'node-llama-cpp', LLAMA), ('ORT', 'onnxruntime-node', ORT))


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


def repeated_matrix(draw):
    """gguf_models.matrix that draws 64 rows and repeats them: speed does not depend on the values."""
    def matrix(rng, kind, rows, columns, deviation=None):
        raw, values = draw(rng, kind, min(rows, 64), columns, deviation)
        return raw * (rows // min(rows, 64)), np.broadcast_to(values[:1], (rows, columns))
    return matrix


def onnx_decoder(sizes, kind):
    """The decoder as an ONNX model, random weights."""
    import onnx
    from onnx import TensorProto as T, helper, numpy_helper
    rng = np.random.default_rng(0)
    bits = 4 if kind in ('Q4_0', 'Q4_1', 'Q2_K', 'Q3_K', 'Q4_K') else 8
    minima = kind in ('Q4_1', 'Q5_1', 'Q2_K', 'Q4_K', 'Q5_K')
    width, inner, heads, kv, size = (sizes[name] for name in ('width', 'inner', 'heads', 'kv', 'size'))
    nodes, constants = [], []

    def constant(name, array):
        constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(operator, inputs, outputs, domain='', **attributes):
        nodes.append(helper.make_node(operator, inputs, outputs, domain=domain, **attributes))
        return outputs[0]

    def linear(x, columns, rows, y):
        blocks = columns // 32
        drawn = rng.integers(0, 256, (64, blocks, 4 * bits), 'u1')
        inputs = [x, constant(y + '.q', np.tile(drawn, (rows // 64, 1, 1))),
                  constant(y + '.s', np.full(rows * blocks, columns ** -0.5 * 3 / 2 ** bits, 'f4'))]
        if minima:
            inputs.append(constant(y + '.z', np.full(rows * ((blocks * bits + 7) // 8), 0x77, 'u1')))
        return node('MatMulNBits', inputs, [y], 'com.microsoft', K=columns, N=rows, bits=bits, block_size=32, accuracy_level=4)

    def norm(x, other, y, total):
        """y = the norm of total = x + other; other None: of x."""
        if other is None:
            return node('SimplifiedLayerNormalization', [x, ones], [y], axis=-1, epsilon=1e-5)
        return node('SkipSimplifiedLayerNormalization', [x, other, ones], [y, '', '', total], 'com.microsoft', epsilon=1e-5)

    ones = constant('ones', np.ones(width, 'f4'))
    angles = np.outer(np.arange(PLACES), 10000.0 ** (-np.arange(0, size, 2) / size))
    rotary = [constant('cos', np.cos(angles).astype('f4')), constant('sin', np.sin(angles).astype('f4'))]
    node('ReduceSum', ['attention_mask', constant('axis', np.array([1], 'i8'))], ['known'], keepdims=0)
    node('Sub', ['known', constant('one', np.array(1, 'i8'))], ['last'])
    node('Cast', ['last'], ['lengths'], to=T.INT32)
    node('Shape', ['attention_mask'], ['mask_shape'])
    node('Gather', ['mask_shape', constant('second', np.array(1, 'i8'))], ['whole'])
    node('Cast', ['whole'], ['total'], to=T.INT32)
    table = np.tile(rng.standard_normal((64, width)).astype('f4'), (VOCABULARY // 64, 1))
    total = node('Gather', [constant('table', table), 'input_ids'], ['x'])
    inputs = [helper.make_tensor_value_info('input_ids', T.INT64, [1, 'new']),
              helper.make_tensor_value_info('attention_mask', T.INT64, [1, 'known'])]
    outputs = [helper.make_tensor_value_info('logits', T.FLOAT, [1, 1, VOCABULARY])]
    x, change = 'x', None
    for i in range(sizes['layers']):
        caches = [['%s.%d.%s' % (name, i, part) for part in ('key', 'value')] for name in ('past_key_values', 'present')]
        for names, list_ in zip(caches, (inputs, outputs)):
            list_ += [helper.make_tensor_value_info(name, T.FLOAT, [1, kv, 'places', size]) for name in names]
        x = norm(total, change, 'a%d' % i, 'b%d' % i)
        total = total if change is None else 'b%d' % i
        fused = linear(x, width, (heads + 2 * kv) * size, 'qkv%d' % i)
        node('GroupQueryAttention', [fused, '', '', *caches[0], 'lengths', 'total', *rotary], ['t%d' % i, *caches[1]], 'com.microsoft',
             num_heads=heads, kv_num_heads=kv, do_rotary=1)
        x = norm(total, linear('t%d' % i, heads * size, width, 'o%d' % i), 'c%d' % i, 'd%d' % i)
        total = 'd%d' % i
        gate, up = linear(x, width, inner, 'gate%d' % i), linear(x, width, inner, 'up%d' % i)
        swish = node('Mul', [gate, node('Sigmoid', [gate], ['sigmoid%d' % i])], ['swish%d' % i])
        change = linear(node('Mul', [swish, up], ['product%d' % i]), inner, width, 'down%d' % i)
    x = node('Gather', [norm(total, change, 'final', 'sum'), constant('end', np.array([-1], 'i8'))], ['end_x'], axis=1)
    linear(x, width, VOCABULARY, 'logits')
    graph = helper.make_graph(nodes, 'decoder', inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17), helper.make_opsetid('com.microsoft', 1)],
                             ir_version=8).SerializeToString()


def run_nnrt(args, file, ids):
    done = subprocess.run([args.nnrt, 'generate', file, '--ids', ','.join(map(str, ids)), '--tokens', str(TOKENS), '--threads',
                           str(args.threads), '--device', args.device, '--json'], check=True, capture_output=True, text=True)
    said = json.loads(done.stdout)
    return said['first_ms'], said['step_ms']


def run_peer(args, script, file, ids):
    done = subprocess.run(['node', script, file, json.dumps(ids), str(TOKENS), str(args.threads)], check=True, capture_output=True,
                          text=True)
    return json.loads(done.stdout.splitlines()[-1])


def write(path, data):
    with open(path, 'wb') as f:
        f.write(data)
    return path


def make_files(args, folder):
    """The path of the GGUF file, the bytes of its matrices in a step, and name, script and file of each installed peer."""
    sizes = SIZES_256 if args.kind.endswith('_K') else SIZES
    gguf_models.VOCABULARY = VOCABULARY
    gguf_models.matrix = repeated_matrix(gguf_models.matrix)
    model = gguf_models.make('llama', args.kind, **sizes)
    read = sum(len(raw) for name, shape, _, raw in model.tensors if len(shape) == 2 and name != 'token_embd.weight')
    file = write(os.path.join(folder, 'model.gguf'), model.bytes())
    peers = []
    for name, package, script in PEERS:
        found = [path for path in args.modules.split() if os.path.isdir(os.path.join(path, 'node_modules', package))]
        if not found:
            print('without %s: MODULES="DIR .." names the folders of node_modules/%s' % (name, package))
            continue
        own = os.path.join(folder, package)  # node searches packages beside the script
        os.mkdir(own)
        os.symlink(os.path.abspath(os.path.join(found[0], 'node_modules')), os.path.join(own, 'node_modules'))
        model = write(os.path.join(folder, 'model.onnx'), onnx_decoder(sizes, args.kind)) if name == 'ORT' else file
        peers.append((name, write(os.path.join(own, 'bench.mjs'), script.encode()), model))
    return file, read, peers


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('nnrt')
    parser.add_argument('--kind', default='Q4_0', choices=list(gguf_models.TYPES))
    parser.add_argument('--threads', type=int, default=1)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--device', default='cpu', help='such as cpu-avx2')
    parser.add_argument('--prompts', default='8 128 1024', help='numbers of tokens')
    parser.add_argument('--modules', default='', metavar='"DIR .."')
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file, read, peers = make_files(args, folder)
        rate = read_rate(args.threads)
        print('%s, %d threads, %.1f MB of matrices in a step, memory is read at %.1f GB/s'
              % (args.kind, args.threads, read / 1e6, rate / 1e9))
        names = ''.join('  %10s  ratio' % name for name, _, _ in peers)
        print('prompt  first ms%s   step ms%s   read' % (names, names))
        for count in map(int, args.prompts.split()):
            ids = [1] + [300 + 37 * i % 40000 for i in range(count - 1)]
            times = [[] for _ in range(1 + len(peers))]
            for _ in range(args.rounds):
                times[0].append(run_nnrt(args, file, ids))
                for list_, (_, script, model) in zip(times[1:], peers):
                    list_.append(run_peer(args, script, model, ids))
            (first, step), *others = [tuple(map(min, zip(*list_))) for list_ in times]
            print('%6d  %8.1f%s  %8.2f%s  %4.0f%%'
                  % (count, first, ''.join('  %10.1f  %5.2f' % (other, first / other) for other, _ in others),
                     step, ''.join('  %10.2f  %5.2f' % (other, step / other) for _, other in others),
                     100 * read / (step / 1e3 * rate)), flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())

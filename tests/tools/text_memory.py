#!/usr/bin/env python3
"""The heap of `nnrt generate` is the figure that `nnrt info` prints, for short and long contexts, and does not grow with the text.

    text_memory.py NNRT HEAP       NNRT: the program, without sanitizers; HEAP: the library of tests/kit/heap.c

Models with weights in the mapped file (F32) and packed ones, of less and more than the 16 MB from which memory is counted before it is
allocated. The figure is model_bytes + buffer_bytes of `nnrt info` and the logits of a token; the program has SLACK bytes beside it.
The number of allocations is the same for few and for many tokens. The last line says "N passed, N failed".
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../formats'))
import gguf_models  # noqa: E402

SLACK = 65536
SMALL = dict(width=128, inner=256, heads=4, kv=2, size=32, layers=4, vocabulary=512, places=8192)
LARGE = dict(width=512, inner=1024, heads=8, kv=2, size=64, layers=3, vocabulary=32768, places=8192)
MODELS = [('F32', SMALL, 256), ('Q4_0', SMALL, 16), ('Q8_0', SMALL, 256), ('Q4_0', LARGE, 256), ('Q8_0', LARGE, 32), ('F16', LARGE, 64)]


class Runner:
    def __init__(self, nnrt, heap, folder):
        self.nnrt, self.heap, self.folder, self.passed, self.failed = nnrt, heap, folder, 0, 0

    def verdict(self, good, name, detail):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print('FAIL %s: %s' % (name, detail))

    def figure(self, model, *words):
        done = subprocess.run([self.nnrt, 'info', model, *words, '--json'], capture_output=True, text=True, check=True)
        info = json.loads(done.stdout)
        return info['model_bytes'] + info['buffer_bytes'] + 4 * info['outputs'][0]['shape'][-1]

    def measured(self, model, tokens, *words):
        """Peak of the heap, and number of allocations."""
        report = os.path.join(self.folder, 'heap')
        command = [self.nnrt, 'generate', model, '--ids', '1,2,3,4,5', '--tokens', str(tokens), *words]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env={**os.environ, 'LD_PRELOAD': self.heap, 'NNRT_HEAP': report})
        with open(report) as f:
            return [int(word) for word in f.read().split()]

    def model(self, kind, sizes, batch):
        path = os.path.join(self.folder, 'model.gguf')
        with open(path, 'wb') as f:
            f.write(gguf_models.make('llama', kind, bare=True, **sizes).bytes())
        for context in (256, 4096):
            words = ('--context', str(context), '--batch', str(batch))
            name = '%s %d, context %d' % (kind, sizes['width'], context)
            figure, (peak, calls) = self.figure(path, *words), self.measured(path, 2, *words)
            self.verdict(0 <= peak - figure <= SLACK, name, 'heap %d, figure %d: %+d' % (peak, figure, peak - figure))
            self.verdict(self.measured(path, 60, *words)[1] == calls, name, 'more tokens need more allocations')


def main():
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(sys.argv[1], os.path.abspath(sys.argv[2]), folder)
        for row in MODELS:
            runner.model(*row)
    print('%d passed, %d failed' % (runner.passed, runner.failed))
    return 1 if runner.failed or not runner.passed else 0


if __name__ == '__main__':
    sys.exit(main())

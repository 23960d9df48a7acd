"""Small random decoders as ONNX files, as exporters write their attention, and the same in numpy.

    make(kind, seed=0, mask=True)   a Decoder: file (bytes); logits(ids): float64[tokens, VOCABULARY]

kind: 'gqa'        GroupQueryAttention of com.microsoft with rotary embeddings, as ONNX Runtime's model builder writes it
      'attention'  Attention of operator set 23, four axes
      'concat'     Concat, MatMul and Softmax, as PyTorch exports it
Two layers: x + attention(x), without norms and feed-forward network.
"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

VOCABULARY, HEADS, KV, SIZE, LAYERS, PLACES = 60, 4, 2, 8, 2, 64
WIDTH = HEADS * SIZE
REAL, WHOLE, SMALL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32


class Decoder:
    def __init__(self, kind, seed, mask):
        draw = np.random.default_rng(seed)
        self.kind, self.mask = kind, mask
        self.table = draw.standard_normal((VOCABULARY, WIDTH)).astype(np.float32)
        self.out = (draw.standard_normal((WIDTH, VOCABULARY)) * WIDTH ** -0.5).astype(np.float32)
        self.layers = [[(draw.standard_normal((WIDTH, n * SIZE)) * WIDTH ** -0.5).astype(np.float32) for n in (HEADS, KV, KV, HEADS)]
                       for _ in range(LAYERS)]
        angles = np.arange(PLACES)[:, None] * 10.0 ** -np.arange(SIZE // 2)[None]
        self.cosines, self.sines = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
        self.nodes, self.constants = [], {'table': self.table, 'out': self.out}
        self.file = self.model()

    # ---- numpy ----

    def rotated(self, x):
        """x [tokens, heads, SIZE]: pairs half of the elements apart."""
        if self.kind != 'gqa':
            return x
        c, s = (t[:len(x), None].astype(np.float64) for t in (self.cosines, self.sines))
        a, b = x[..., :SIZE // 2], x[..., SIZE // 2:]
        return np.concatenate([a * c - b * s, b * c + a * s], -1)

    def logits(self, ids):
        x = self.table[ids].astype(np.float64)
        n = len(ids)
        for q, k, v, o in self.layers:
            q, k = self.rotated((x @ q).reshape(n, HEADS, SIZE)), self.rotated((x @ k).reshape(n, KV, SIZE))
            k, v = np.repeat(k, HEADS // KV, axis=1), np.repeat((x @ v).reshape(n, KV, SIZE), HEADS // KV, axis=1)
            scores = np.einsum('ihd,jhd->hij', q, k) / np.sqrt(SIZE)
            scores = np.where(np.tril(np.ones((n, n), bool)), scores, -np.inf)
            w = np.exp(scores - scores.max(-1, keepdims=True))
            x = x + np.einsum('hij,jhd->ihd', w / w.sum(-1, keepdims=True), v).reshape(n, WIDTH) @ o.astype(np.float64)
        return x @ self.out

    # ---- ONNX ----

    def node(self, op, inputs, outputs, **attributes):
        self.nodes.append(helper.make_node(op, inputs, outputs if isinstance(outputs, list) else [outputs], **attributes))
        return outputs

    def constant(self, name, value, kind=np.int64):
        self.constants[name] = np.array(value, kind)
        return name

    def layer(self, i, x):
        names = ['%s.%d' % (part, i) for part in 'qkvo']
        self.constants.update(zip(names, self.layers[i]))
        q, k, v = (self.node('MatMul', [x, name], name + '.x') for name in names[:3])
        past = ['past_key_values.%d.%s' % (i, part) for part in ('key', 'value')]
        present = ['present.%d.%s' % (i, part) for part in ('key', 'value')]
        y = getattr(self, self.kind)(i, q, k, v, past, present)
        return self.node('Add', [x, self.node('MatMul', [y, names[3]], 'o.%d.x' % i)], 'x.%d' % (i + 1))

    def gqa(self, i, q, k, v, past, present):
        return self.node('GroupQueryAttention', [q, k, v, *past, 'lengths', 'total', 'cosines', 'sines'], ['y.%d' % i, *present],
                         domain='com.microsoft', num_heads=HEADS, kv_num_heads=KV, do_rotary=1)[0]

    def heads(self, x, heads):
        x = self.node('Reshape', [x, self.constant('heads.%d' % heads, [0, 0, heads, SIZE])], x + '.heads')
        return self.node('Transpose', [x], x + '.first', perm=[0, 2, 1, 3])

    def joined(self, x):
        x = self.node('Transpose', [x], x + '.last', perm=[0, 2, 1, 3])
        return self.node('Reshape', [x, self.constant('joined', [0, 0, WIDTH])], x + '.joined')

    def attention(self, i, q, k, v, past, present):
        q, k, v = self.heads(q, HEADS), self.heads(k, KV), self.heads(v, KV)
        return self.joined(self.node('Attention', [q, k, v, '', *past], ['y.%d' % i, *present], is_causal=1)[0])

    def concat(self, i, q, k, v, past, present):
        """The causal mask is computed from the sizes of past and present, as exporters do."""
        q, k, v = self.heads(q, HEADS), self.heads(k, KV), self.heads(v, KV)
        keys, values = (self.node('Concat', [old, x], new, axis=-2) for old, x, new in zip(past, (k, v), present))
        n = str(i)
        size = [self.node('Gather', [self.node('Shape', [x], 'shape.%s.%s' % (x, n)), self.constant('two', 2)], 'size.%s.%s' % (x, n), axis=0)
                for x in (past[0], keys)]
        at = self.node('Range', [size[0], size[1], self.constant('one', 1)], 'at.' + n)
        seen = self.node('LessOrEqual', [self.node('Range', [self.constant('zero', 0), size[1], 'one'], 'all.' + n),
                                         self.node('Unsqueeze', [at, 'one.axis'], 'at.column.' + n)], 'seen.' + n)
        mask = self.node('Where', [seen, self.constant('none', 0, np.float32), self.constant('least', -1e9, np.float32)], 'mask.' + n)
        self.constant('one.axis', [1])
        wide = []
        for x in (keys, values):  # each head of keys for HEADS // KV heads of queries
            x = self.node('Unsqueeze', [x, self.constant('two.axis', [2])], x + '.five')
            x = self.node('Expand', [x, self.constant('groups', [1, 1, HEADS // KV, 1, 1])], x + '.wide')
            wide.append(self.node('Reshape', [x, self.constant('wide', [0, HEADS, -1, SIZE])], x + '.four'))
        scores = self.node('MatMul', [q, self.node('Transpose', [wide[0]], wide[0] + '.t', perm=[0, 1, 3, 2])], 'products.' + n)
        scores = self.node('Mul', [scores, self.constant('scale', SIZE ** -0.5, np.float32)], 'scaled.' + n)
        weights = self.node('Softmax', [self.node('Add', [scores, mask], 'scores.' + n)], 'weights.' + n, axis=-1)
        return self.joined(self.node('MatMul', [weights, wide[1]], 'y.' + n))

    def model(self):
        if self.kind == 'gqa':
            self.constants.update(cosines=self.cosines, sines=self.sines)
            ones = self.node('ReduceSum', ['attention_mask', self.constant('axis', [1])], 'ones', keepdims=0)
            self.node('Cast', [self.node('Sub', [ones, self.constant('one', 1)], 'ones.1')], 'lengths', to=SMALL)
            size = self.node('Gather', [self.node('Shape', ['attention_mask'], 'mask.shape'), self.constant('last', 1)], 'size', axis=0)
            self.node('Cast', [size], 'total', to=SMALL)
        x = self.node('Gather', ['table', 'input_ids'], 'x.0', axis=0)
        for i in range(LAYERS):
            x = self.layer(i, x)
        self.node('MatMul', [x, 'out'], 'logits')
        inputs = [helper.make_tensor_value_info('input_ids', WHOLE, ['batch', 'steps'])]
        if self.mask:
            inputs.append(helper.make_tensor_value_info('attention_mask', WHOLE, ['batch', 'total']))
        outputs = [helper.make_tensor_value_info('logits', REAL, ['batch', 'steps', VOCABULARY])]
        for i in range(LAYERS):
            for part in ('key', 'value'):
                inputs.append(helper.make_tensor_value_info('past_key_values.%d.%s' % (i, part), REAL, ['batch', KV, 'past', SIZE]))
                outputs.append(helper.make_tensor_value_info('present.%d.%s' % (i, part), REAL, ['batch', KV, 'total', SIZE]))
        graph = helper.make_graph(self.nodes, 'decoder', inputs, outputs, [numpy_helper.from_array(v, k) for k, v in self.constants.items()])
        sets = [helper.make_opsetid('', 23 if self.kind == 'attention' else 14), helper.make_opsetid('com.microsoft', 1)]
        return helper.make_model(graph, opset_imports=sets).SerializeToString()


def make(kind, seed=0, mask=True):
    return Decoder(kind, seed, mask)

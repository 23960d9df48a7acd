"""Cases of test_tflite.py: RNN, LSTM and SVDF."""
import numpy as np

from tflite_builder import CASES, case


def recurrent():
    for major in (False, True):
        for activation in ('TANH', 'RELU', 'NONE'):
            @case('UNIDIRECTIONAL_SEQUENCE_RNN %s%s' % (activation, ' time major' * major))
            def rnn(b, major=major, activation=activation):
                state = b.tensor('h', 'float32', (2, 4), variable=True)
                b.out('UNIDIRECTIONAL_SEQUENCE_RNN', [b.x((5, 2, 3) if major else (2, 5, 3)), b.weight((4, 3), low=-1, high=1),
                                                      b.weight((4, 4), low=-0.5, high=0.5), b.weight((4,)), state], 'float32',
                      time_major=major, activation=activation)
        for merge in (False, True):
            if merge or not major:  # TensorFlow Lite exchanges time and batch in the shape of result 1
                @case('BIDIRECTIONAL_SEQUENCE_RNN%s%s' % (' time major' * major, ' merged' * merge))
                def rnns(b, major=major, merge=merge):
                    inputs = [b.x((5, 2, 3) if major else (2, 5, 3))]
                    for k, hidden in enumerate((4, 2)):
                        inputs += [b.weight((hidden, 3), low=-1, high=1), b.weight((hidden, hidden), low=-0.5, high=0.5),
                                   b.weight((hidden,)), b.tensor('h%d' % k, 'float32', (2, hidden), variable=True)]
                    b.op('BIDIRECTIONAL_SEQUENCE_RNN', inputs + [-1] * 3, [b.y() for _ in range(2 - merge)], time_major=major,
                         merge=merge, activation='TANH')

            @case('BIDIRECTIONAL_SEQUENCE_LSTM%s%s' % (' time major' * major, ' merged' * merge))
            def lstms(b, major=major, merge=merge):
                batch = 1 if merge and not major else 2  # the state of the first one reaches the second one in TensorFlow Lite
                inputs = [b.x((5, batch, 3) if major else (batch, 5, 3))]
                for size in (4, 4):
                    inputs += [b.weight((size, 3)) for _ in range(4)] + [b.weight((size, size), low=-1, high=1) for _ in range(4)]
                    inputs += [-1] * 3 + [b.weight((size,)) for _ in range(4)] + [-1, -1]
                inputs += [b.tensor('s%d' % k, 'float32', (batch, size), variable=True) for k in range(4)]
                b.op('BIDIRECTIONAL_SEQUENCE_LSTM', inputs + [-1] * 9, [b.y() for _ in range(2 - merge)], time_major=major, merge=merge,
                     activation='TANH', cell_clip=0.5)
    @case('UNIDIRECTIONAL_SEQUENCE_RNN, a recurrent weight of one row')
    def one_row(b):
        b.wrong = True
        b.out('UNIDIRECTIONAL_SEQUENCE_RNN', [b.x((2, 5, 3)), b.weight((4, 3)), b.weight((1, 4)), b.weight((4,)),
                                              b.tensor('h', 'float32', (2, 4), variable=True)], 'float32', activation='TANH')

    @case('UNIDIRECTIONAL_SEQUENCE_RNN, a state that is an input')
    def no_variable(b):
        b.wrong = True
        b.out('UNIDIRECTIONAL_SEQUENCE_RNN', [b.x((2, 5, 3)), b.weight((4, 3)), b.weight((4, 4)), b.weight((4,)), b.x((2, 4))], 'float32')

    for at, size in ((10, 1), (13, 1), (3, 1)):
        @case('UNIDIRECTIONAL_SEQUENCE_LSTM, input %d of size %d' % (at, size))
        def odd(b, at=at, size=size):
            b.wrong = True
            inputs = [b.x((2, 5, 3))] + [b.weight((size if k == at else 4, 3)) for k in range(1, 5)]
            inputs += [b.weight((4, 4)) for _ in range(4)] + [b.weight((size if k == at else 4,)) for k in range(9, 16)] + [-1, -1]
            inputs += [b.tensor('s%d' % k, 'float32', (2, 4), variable=True) for k in range(2)] + [-1] * 4
            b.out('UNIDIRECTIONAL_SEQUENCE_LSTM', inputs, 'float32', activation='TANH')
    kinds = {'': {}, ' clipped': {'cell_clip': 0.7}, ' coupled': {}, ' peepholes': {}, ' projection': {'proj_clip': 0.4},
             ' coupled peepholes': {'cell_clip': 1.5}, ' relu': {'activation': 'RELU'}, ' time major': {'time_major': True},
             ' hybrid': {}}
    for kind, options in kinds.items():
        @case('UNIDIRECTIONAL_SEQUENCE_LSTM' + kind)
        def lstm(b, kind=kind, options=options):
            coupled, projection, hidden = 'coupled' in kind, 'projection' in kind, 5
            size = 4 if projection else hidden

            def weights(*shape):
                if 'hybrid' in kind and len(shape) == 2:
                    w = b.random.randint(-127, 128, shape).astype('int8')
                    return b.c(w * np.float32(0.01), 'float32') if b.reference else b.c(w, 'int8', scale=0.01, zero=0)
                return b.weight(shape, low=-1.2, high=1.2)
            gates = [-1 if coupled and k == 0 else 0 for k in range(4)]
            inputs = [b.x((7, 2, 3) if 'major' in kind else (2, 7, 3))]
            inputs += [k or weights(hidden, 3) for k in gates] + [k or weights(hidden, size) for k in gates]
            inputs += [k or weights(hidden) if 'peepholes' in kind else -1 for k in gates[:3]] + [k or weights(hidden) for k in gates]
            inputs += [weights(size, hidden), weights(size)] if projection else [-1, -1]
            inputs += [b.tensor('h', 'float32', (2, size), variable=True), b.tensor('s', 'float32', (2, hidden), variable=True)]
            inputs += [-1] * 4
            b.out('UNIDIRECTIONAL_SEQUENCE_LSTM', inputs, 'float32', **{'activation': 'TANH', **options})

    def state(b, size):
        return b.tensor('state', 'float32', (2, size), variable=True)
    for rank in (1, 2):
        for memory in (1, 4):
            for bias in (False, True):
                @case('SVDF rank %d memory %d%s' % (rank, memory, ' bias' * bias))
                def svdf(b, rank=rank, memory=memory, bias=bias):
                    inputs = [b.x((2, 3)), b.weight((6, 3)), b.weight((6, memory))] + [b.weight((6 // rank,)) if bias else -1]
                    b.out('SVDF', inputs + [state(b, 6 * memory)], 'float32', rank=rank, activation='RELU' if bias else 'NONE')

    @case('SVDF hybrid')
    def hybrid_svdf(b):
        w = [b.random.randint(-127, 128, shape).astype('int8') for shape in ((6, 3), (6, 4))]
        inputs = [b.c(v * np.float32(0.01), 'float32') if b.reference else b.c(v, 'int8', scale=0.01, zero=0) for v in w]
        b.out('SVDF', [b.x((2, 3))] + inputs + [b.weight((3,)), state(b, 24)], 'float32', rank=2, activation='NONE')
    for rank, size, kind in ((4, 24, 'float32'), (0, 24, 'float32'), (2, 20, 'float32'), (2, 24, 'int8')):
        @case('SVDF of rank %d with a state of %d, %s' % (rank, size, kind))
        def wrong_svdf(b, rank=rank, size=size, kind=kind):
            b.wrong = True
            quant = {} if kind == 'float32' else {'scale': 0.1}
            inputs = [b.x((2, 3), kind), b.weight((6, 3), kind), b.weight((6, 4), kind), -1]
            b.out('SVDF', inputs + [b.tensor('state', kind, (2, size), variable=True, **quant)], kind, rank=rank)
    for name in [n for n in CASES if n.startswith(('UNI', 'BI', 'SVDF')) and not n.startswith('SVDF of') and ', ' not in n]:
        @case(name + ', 3 runs')
        def again(b, build=CASES[name]):
            b.runs = 3
            build(b)

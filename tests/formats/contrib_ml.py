"""The cases of ai.onnx.ml for test_contrib.py: small models with random attributes, and a random forest of scikit-learn.

    contrib_ml.py --train           trains tests/formats/data/iris_forest.onnx, which needs python3-sklearn
"""
import os
import sys

import numpy as np
from onnx import helper, load, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
FOREST = os.path.join(HERE, 'data', 'iris_forest.onnx')
ML = 'ai.onnx.ml'
MODES = ['BRANCH_LEQ', 'BRANCH_LT', 'BRANCH_GTE', 'BRANCH_GT', 'BRANCH_EQ', 'BRANCH_NEQ']
SETS = ['BRANCH_MEMBER']  # of TreeEnsemble


def tensor(name, values, dtype):
    return numpy_helper.from_array(np.asarray(values, dtype), name)


class Trees:
    """A random ensemble. Splits are quarters, as features are, so that equality happens. weights: of each leaf 'all' targets, 'one' (of
    the tree), or 'some' of them (perhaps none). Leaves have ids, too; ids of nodes have gaps with `gaps`."""

    def __init__(self, draw, trees, depth, features, targets, modes=('BRANCH_LEQ',), weights='all', missing=False, gaps=1, positive=False):
        self.targets, self.nodes, self.leaves = targets, [], []
        for tree in range(trees):
            self.count = 0
            self.grow(draw, tree, depth, features, modes, weights, missing, gaps, positive)

    def grow(self, draw, tree, depth, features, modes, weights, missing, gaps, positive):
        me, at = self.count * gaps, len(self.nodes)
        self.count += 1
        leaf = depth == 0 or (me > 0 and draw.rand() < 0.2)
        node = dict(tree=tree, id=me, feature=0, value=0.0, mode='LEAF', yes=0, no=0, missing=0)
        self.nodes.append(node)
        if leaf:
            which = {'all': range(self.targets), 'one': [tree % self.targets],
                     'some': [k for k in range(self.targets) if draw.rand() < 0.6]}[weights]
            for k in which:
                w = draw.rand() if positive else draw.standard_normal()
                self.leaves.append((tree, me, k, float(np.float32(w))))
            return me
        node.update(feature=int(draw.randint(features)), value=float(draw.randint(-6, 7) / 4), mode=str(draw.choice(modes)),
                    missing=int(missing and draw.rand() < 0.5))
        if node['mode'] in SETS:
            node['set'] = draw.choice(np.arange(-8, 9) / 4, draw.randint(1, 6), replace=False).tolist()
        more = (draw, tree, depth - 1, features, modes, weights, missing, gaps, positive)
        self.nodes[at]['yes'] = self.grow(*more)
        self.nodes[at]['no'] = self.grow(*more)
        return me

    def sums(self, x):
        """The sum of the leaves that each row of x reaches, [N,targets]; a NaN goes where its node sends missing values."""
        tests = {'BRANCH_LEQ': lambda v, n: v <= n['value'], 'BRANCH_LT': lambda v, n: v < n['value'], 'BRANCH_GTE': lambda v, n: v >= n['value'],
                 'BRANCH_GT': lambda v, n: v > n['value'], 'BRANCH_EQ': lambda v, n: v == n['value'], 'BRANCH_NEQ': lambda v, n: v != n['value'],
                 'BRANCH_MEMBER': lambda v, n: v in n['set']}
        nodes = {(n['tree'], n['id']): n for n in self.nodes}
        y = np.zeros((len(x), self.targets))
        for row, result in zip(x, y):
            for tree in {n['tree'] for n in self.nodes}:
                n = nodes[tree, 0]
                while n['mode'] != 'LEAF':
                    v = row[n['feature']]
                    n = nodes[tree, n['yes' if tests[n['mode']](v, n) or (np.isnan(v) and n['missing']) else 'no']]
                for where, me, k, weight in self.leaves:
                    result[k] += weight * ((where, me) == (tree, n['id']))
        return y

    def version_3(self, classes, missing=False, wide=False, **more):
        """Attributes of TreeEnsembleClassifier or -Regressor."""
        kind = 'class' if classes else 'target'
        column = {k: [n[k] for n in self.nodes] for k in self.nodes[0]}
        out = dict(nodes_treeids=column['tree'], nodes_nodeids=column['id'], nodes_featureids=column['feature'], nodes_modes=column['mode'],
                   nodes_truenodeids=column['yes'], nodes_falsenodeids=column['no'])
        trees, ids, targets, weights = zip(*self.leaves)
        out.update({kind + '_treeids': trees, kind + '_nodeids': ids, kind + '_ids': targets})
        if wide:
            out.update(nodes_values_as_tensor=tensor('v', column['value'], np.float64))
            out[kind + '_weights_as_tensor'] = tensor('w', weights, np.float64)
        else:
            out.update({'nodes_values': column['value'], kind + '_weights': weights})
        if missing:
            out['nodes_missing_value_tracks_true'] = column['missing']
        if not classes:
            out['n_targets'] = self.targets
        return {**out, **more}

    def version_5(self, dtype=np.float32, missing=False, **more):
        """Attributes of TreeEnsemble; a tree of one leaf becomes a node with that leaf twice."""
        inner = [n for n in self.nodes if n['mode'] != 'LEAF']
        place = {(n['tree'], n['id']): k for k, n in enumerate(inner)}
        leaf = {(tree, me): k for k, (tree, me, _, _) in enumerate(self.leaves)}
        roots = [place[n['tree'], n['id']] for n in self.nodes if n['id'] == 0]

        def child(node, side):
            key = node['tree'], node[side]
            return (place[key], 0) if key in place else (leaf[key], 1)
        yes, no = [child(n, 'yes') for n in inner], [child(n, 'no') for n in inner]
        out = dict(tree_roots=roots, nodes_featureids=[n['feature'] for n in inner], n_targets=self.targets,
                   nodes_splits=tensor('s', [n['value'] for n in inner], dtype),
                   nodes_modes=tensor('m', [(MODES + SETS).index(n['mode']) for n in inner], np.uint8),
                   nodes_truenodeids=[a for a, _ in yes], nodes_trueleafs=[b for _, b in yes],
                   nodes_falsenodeids=[a for a, _ in no], nodes_falseleafs=[b for _, b in no],
                   leaf_targetids=[k for _, _, k, _ in self.leaves], leaf_weights=tensor('w', [w for _, _, _, w in self.leaves], dtype))
        if missing:
            out['nodes_missing_value_tracks_true'] = [n['missing'] for n in inner]
        if any('set' in n for n in inner):
            out['membership_values'] = tensor('v', [v for n in inner if 'set' in n for v in n['set'] + [np.nan]], dtype)
        return {**out, **more}


def quarters(draw, *shape, missing=False):
    x = (draw.randint(-8, 9, shape) / 4).astype(np.float32)
    if missing:
        x[draw.rand(*shape) < 0.2] = np.nan
    return x


def tree_cases(Case):
    draw = np.random.RandomState(19)

    def case(name, op, x, version=3, outputs=1, **attributes):
        return Case(name, op, [x], outputs, domain=ML, ml=version, **attributes)
    for rows in (1, 2, 7):
        t = Trees(draw, 5, 4, 6, 1)
        yield case('TreeEnsembleRegressor %d rows' % rows, 'TreeEnsembleRegressor', quarters(draw, rows, 6), 1, **t.version_3(False))
        t = Trees(draw, 5, 4, 6, 3, positive=True)
        yield case('TreeEnsembleClassifier %d rows' % rows, 'TreeEnsembleClassifier', quarters(draw, rows, 6), 1, 2,
                   **t.version_3(True, classlabels_int64s=[7, 3, 5]))
    x = quarters(draw, 7, 6)
    for mode in MODES:
        t = Trees(draw, 4, 5, 6, 2, modes=[mode])
        yield case('TreeEnsembleRegressor ' + mode, 'TreeEnsembleRegressor', x, **t.version_3(False))
        for tracks in (0, 1):
            t = Trees(draw, 4, 5, 6, 2, modes=[mode], missing=True)
            yield case('TreeEnsembleRegressor %s NaN %d' % (mode, tracks), 'TreeEnsembleRegressor', quarters(draw, 7, 6, missing=True),
                       **t.version_3(False, missing=bool(tracks)))
    t = Trees(draw, 6, 7, 6, 2, modes=MODES, missing=True)
    yield case('TreeEnsembleRegressor all modes', 'TreeEnsembleRegressor', quarters(draw, 7, 6, missing=True), **t.version_3(False, missing=True))
    for how in ('SUM', 'AVERAGE', 'MIN', 'MAX'):
        for weights in ('all', 'one', 'some'):
            t = Trees(draw, 6, 4, 6, 3, weights=weights)
            yield case('TreeEnsembleRegressor %s %s' % (how, weights), 'TreeEnsembleRegressor', x,
                       **t.version_3(False, aggregate_function=how, base_values=[0.5, -1.0, 2.0]))
        t = Trees(draw, 6, 4, 6, 1)
        yield case('TreeEnsembleRegressor %s one target' % how, 'TreeEnsembleRegressor', x,
                   **t.version_3(False, aggregate_function=how, base_values=[0.5]))
    for post in ('NONE', 'SOFTMAX', 'LOGISTIC', 'SOFTMAX_ZERO'):
        t = Trees(draw, 6, 3, 6, 3, weights='some')
        yield case('TreeEnsembleRegressor ' + post, 'TreeEnsembleRegressor', x, **t.version_3(False, post_transform=post))
        t = Trees(draw, 5, 4, 6, 3)
        yield case('TreeEnsembleClassifier ' + post, 'TreeEnsembleClassifier', x, 3, 2,
                   **t.version_3(True, post_transform=post, classlabels_int64s=[0, 1, 2]))
        t = Trees(draw, 5, 4, 6, 1)
        yield case('TreeEnsembleClassifier binary ' + post, 'TreeEnsembleClassifier', x, 3, 2,
                   **t.version_3(True, post_transform=post, classlabels_int64s=[4, 9]))
        t = Trees(draw, 2, 4, 6, 1, positive=True)
        yield case('TreeEnsembleClassifier binary positive ' + post, 'TreeEnsembleClassifier', x, 3, 2,
                   **t.version_3(True, post_transform=post, classlabels_int64s=[4, 9], base_values=[-0.25]))
        t.leaves = [(a, b, 1, w) for a, b, _, w in t.leaves]
        yield case('TreeEnsembleClassifier binary second ' + post, 'TreeEnsembleClassifier', x, 3, 2,
                   **t.version_3(True, post_transform=post, classlabels_int64s=[4, 9]))
    t = Trees(draw, 4, 4, 6, 2, positive=True)
    t.leaves = [(a, b, k, float(np.float32(w / 16))) for a, b, k, w in t.leaves]  # near 0.5 ONNX Runtime cancels
    yield case('TreeEnsembleRegressor PROBIT', 'TreeEnsembleRegressor', x, **t.version_3(False, post_transform='PROBIT'))
    t = Trees(draw, 5, 4, 6, 1)  # opposite scores: ONNX Runtime labels two classes by the sign of the second score
    t.leaves = [(a, b, k, w if k else -w) for a, b, _, w in t.leaves for k in (0, 1)]
    yield case('TreeEnsembleClassifier two classes', 'TreeEnsembleClassifier', x, 3, 2, **t.version_3(True, classlabels_int64s=[0, 1]))
    t = Trees(draw, 5, 4, 6, 2)  # the label of two classes is that of three of which the last is never the largest
    two = t.version_3(True, classlabels_int64s=[5, 7], kept=[0])
    t.leaves += [(n['tree'], n['id'], 2, -100.0) for n in t.nodes if n['mode'] == 'LEAF']
    named = 'TreeEnsembleClassifier a third class'
    yield case(named, 'TreeEnsembleClassifier', x, 3, 2, **t.version_3(True, classlabels_int64s=[5, 7, 9]))
    yield case('TreeEnsembleClassifier label of two classes', 'TreeEnsembleClassifier', x, 3, 2, like=named, **two)
    t = Trees(draw, 4, 4, 6, 4, weights='some')
    t.leaves = [(a, b, k, -abs(w)) for a, b, k, w in t.leaves] + [(n['tree'], n['id'], 0, -0.5) for n in t.nodes if n['mode'] == 'LEAF']
    yield case('TreeEnsembleClassifier classes without score', 'TreeEnsembleClassifier', x, 3, 2, **t.version_3(True, classlabels_int64s=[5, 6, 7, 8]))
    t = Trees(draw, 9, 4, 6, 3, weights='one', gaps=3)
    yield case('TreeEnsembleClassifier one class a tree', 'TreeEnsembleClassifier', x, 3, 2,
               **t.version_3(True, classlabels_int64s=[5, 6, 7], base_values=[0.1, 0.2, 0.3]))
    order = draw.permutation(9)
    t.nodes.sort(key=lambda n: list(order).index(n['tree']))
    yield case('TreeEnsembleClassifier trees in disorder', 'TreeEnsembleClassifier', x, 3, 2, **t.version_3(True, classlabels_int64s=[5, 6, 7]))
    for n in t.nodes:
        n['tree'] = [0, 3, 6, 1, 4, 7, 2, 5, 8][n['tree']]
    t.leaves = [([0, 3, 6, 1, 4, 7, 2, 5, 8][a], b, k, w) for a, b, k, w in t.leaves]
    yield case('TreeEnsembleClassifier classes in blocks', 'TreeEnsembleClassifier', x, 3, 2, **t.version_3(True, classlabels_int64s=[5, 6, 7]))
    t = Trees(draw, 4, 5, 6, 2, modes=MODES)
    yield case('TreeEnsembleRegressor float64', 'TreeEnsembleRegressor', x.astype(np.float64), **t.version_3(False, wide=True))
    for dtype in (np.int64, np.int32):
        t = Trees(draw, 4, 5, 6, 3, modes=MODES)
        yield case('TreeEnsembleClassifier ' + dtype.__name__, 'TreeEnsembleClassifier', draw.randint(-2, 3, (7, 6)).astype(dtype), 3, 2,
                   **t.version_3(True, classlabels_int64s=[5, 6, 7]))
    t = Trees(draw, 3, 0, 6, 2)
    yield case('TreeEnsembleRegressor leaves only', 'TreeEnsembleRegressor', x, **t.version_3(False))
    for dtype in (np.float32, np.float64):
        for how in range(4):
            t = Trees(draw, 5, 4, 6, 3, weights='one', modes=MODES, missing=True)
            yield case('TreeEnsemble %s %d' % (dtype.__name__, how), 'TreeEnsemble', quarters(draw, 7, 6, missing=True).astype(dtype), 5,
                       **t.version_5(dtype, missing=True, aggregate_function=how))
    # The numbers of post_transform follow the specification; ONNX Runtime exchanges 1 and 2.
    for number, post in enumerate(('NONE', 'SOFTMAX', 'LOGISTIC', 'SOFTMAX_ZERO', 'PROBIT')):
        t = Trees(draw, 6, 4, 6, 2, weights='one', positive=True)
        t.leaves = [(a, b, k, float(np.float32(w / 16))) for a, b, k, w in t.leaves]
        named = 'TreeEnsembleRegressor as TreeEnsemble ' + post
        yield case(named, 'TreeEnsembleRegressor', x, **t.version_3(False, post_transform=post))
        yield case('TreeEnsemble ' + post, 'TreeEnsemble', x, 5, like=named, **t.version_5(post_transform=number))
    forest = load(FOREST).graph.node[0]
    attributes = {a.name: helper.get_attribute_value(a) for a in forest.attribute}
    iris = np.array([[5.1, 3.5, 1.4, 0.2], [6.2, 2.8, 4.8, 1.8], [5.9, 3.0, 5.1, 1.8], [6.0, 2.2, 4.0, 1.0], [5.7, 2.6, 3.5, 1.0],
                     [7.7, 3.8, 6.7, 2.2], [4.9, 2.4, 3.3, 1.0]], np.float32)
    for rows in (1, 7):
        yield case('RandomForestClassifier %d rows' % rows, 'TreeEnsembleClassifier', iris[:rows], 3, 2, **attributes)


def other_cases(Case):
    draw = np.random.RandomState(23)

    def floats(*shape):
        return draw.standard_normal(shape).astype(np.float32)

    def case(name, op, inputs, version=1, outputs=1, **attributes):
        return Case(name, op, inputs, outputs, domain=ML, ml=version, **attributes)

    def flat(a):
        return [float(v) for v in np.float32(a).ravel()]
    for dtype in (np.float32, np.float64, np.int64, np.int32):
        x = (floats(7, 4) * 9).astype(dtype)
        yield case('Scaler ' + dtype.__name__, 'Scaler', [x], scale=flat(floats(4)), offset=flat(floats(4)))
        for norm in ('MAX', 'L1', 'L2'):
            x = (floats(7, 4) * 9).astype(dtype)
            x[2] = 0
            yield case('Normalizer %s %s' % (norm, dtype.__name__), 'Normalizer', [x], norm=norm)
    yield case('Scaler one', 'Scaler', [floats(7, 4)], scale=[0.5], offset=[3.0])
    yield case('Binarizer', 'Binarizer', [quarters(draw, 7, 4)], threshold=0.25)
    for dtype in (np.float32, np.int64):
        yield case('ArrayFeatureExtractor ' + dtype.__name__, 'ArrayFeatureExtractor', [(floats(7, 5) * 9).astype(dtype), np.int64([3, 0, 3])])
        yield case('ArrayFeatureExtractor one axis ' + dtype.__name__, 'ArrayFeatureExtractor', [(floats(5) * 9).astype(dtype), np.int64([[4, 1]])])
    for post in ('NONE', 'SOFTMAX', 'LOGISTIC', 'SOFTMAX_ZERO'):
        yield case('LinearClassifier ' + post, 'LinearClassifier', [floats(7, 4)], outputs=2, classlabels_ints=[4, 2, 8],
                   coefficients=flat(floats(3, 4)), intercepts=flat(floats(3)), post_transform=post)
        yield case('LinearClassifier two rows ' + post, 'LinearClassifier', [floats(7, 4)], outputs=2, classlabels_ints=[4, 2],
                   coefficients=flat(floats(2, 4)), intercepts=flat(floats(2)), post_transform=post, multi_class=1)
        yield case('LinearClassifier one row ' + post, 'LinearClassifier', [floats(7, 4)], outputs=2, classlabels_ints=[4, 2],
                   coefficients=flat(floats(1, 4)), intercepts=flat(floats(1)), post_transform=post)
        yield case('LinearRegressor ' + post, 'LinearRegressor', [floats(7, 4)], coefficients=flat(floats(2, 4)), intercepts=flat(floats(2)),
                   targets=2, post_transform=post)
    yield case('LinearClassifier int64', 'LinearClassifier', [draw.randint(-9, 9, (7, 4)).astype(np.int64)], outputs=2, classlabels_ints=[4, 2, 8],
               coefficients=flat(floats(3, 4)), intercepts=flat(floats(3)))
    yield case('LinearRegressor without intercepts', 'LinearRegressor', [floats(7, 4)], coefficients=flat(floats(4)))
    for kernel, parameters in (('LINEAR', [0.5, 0.0, 3.0]), ('POLY', [0.3, 0.5, 2.0]), ('POLY', [0.3, 0.5, 3.0]), ('RBF', [0.3, 0.0, 3.0]),
                               ('SIGMOID', [0.2, 0.1, 3.0])):
        svm = dict(kernel_type=kernel, kernel_params=parameters)
        name = '%s %g' % (kernel, parameters[2])
        yield case('SVMRegressor ' + name, 'SVMRegressor', [floats(7, 4)], support_vectors=flat(floats(5, 4)), n_supports=5,
                   coefficients=flat(floats(5)), rho=[0.25], **svm)
        for counts in ([3, 2], [2, 3, 4], [1, 2, 1, 3]):
            K, V = len(counts), sum(counts)
            yield case('SVMClassifier %s %d classes' % (name, K), 'SVMClassifier', [floats(7, 4)], outputs=2, vectors_per_class=counts,
                       support_vectors=flat(floats(V, 4)), coefficients=flat(floats(K - 1, V)), rho=flat(floats(K * (K - 1) // 2)),
                       classlabels_ints=[9, 3, 5, 7][:K], **svm)
    for post in ('SOFTMAX', 'LOGISTIC', 'SOFTMAX_ZERO'):
        for counts in ([3, 2], [2, 3, 4]):
            K, V = len(counts), sum(counts)
            yield case('SVMClassifier %s %d classes' % (post, K), 'SVMClassifier', [floats(7, 4)], outputs=2, vectors_per_class=counts,
                       support_vectors=flat(floats(V, 4)), coefficients=flat(floats(K - 1, V)), rho=flat(floats(K * (K - 1) // 2)),
                       classlabels_ints=[9, 3, 5, 7][:K], kernel_type='RBF', kernel_params=[0.3, 0.0, 3.0], post_transform=post)
    far = floats(5, 4) + 1000
    yield case('SVMRegressor RBF far from 0', 'SVMRegressor', [floats(7, 4) + 1000], support_vectors=flat(far), n_supports=5,
               coefficients=flat(floats(5)), rho=[0.25], kernel_type='RBF', kernel_params=[0.3, 0.0, 3.0])
    yield case('SVMRegressor one class', 'SVMRegressor', [floats(7, 4)], support_vectors=flat(floats(5, 4)), n_supports=5,
               coefficients=flat(floats(5)), rho=[0.25], kernel_type='RBF', kernel_params=[0.3, 0.0, 3.0], one_class=1)
    yield case('SVMRegressor linear', 'SVMRegressor', [floats(7, 4)], coefficients=flat(floats(4)), rho=[0.25], n_supports=0,
               kernel_params=[0.3, 0.0, 3.0])
    for post in ('NONE', 'SOFTMAX', 'LOGISTIC'):
        yield case('SVMClassifier linear ' + post, 'SVMClassifier', [floats(7, 4)], outputs=2, coefficients=flat(floats(3, 4)), rho=[0.25],
                   classlabels_ints=[4, 2, 8], kernel_params=[0.3, 0.0, 3.0], post_transform=post)
    x = np.array([[1, 2, 3, 9], [4, 2, -1, 0]], np.int64)
    yield case('LabelEncoder int64 int64', 'LabelEncoder', [x], 2, keys_int64s=[1, 2, 3, 2], values_int64s=[10, 20, 30, 40], default_int64=-7)
    yield case('LabelEncoder int64 float', 'LabelEncoder', [x], 2, keys_int64s=[1, 2, 3], values_floats=[0.5, 1.5, 2.5], default_float=-0.25)
    yield case('LabelEncoder float int64', 'LabelEncoder', [x.astype(np.float32)], 2, keys_floats=[1.0, 2.0, 3.0], values_int64s=[10, 20, 30])
    yield case('LabelEncoder float float', 'LabelEncoder', [x.astype(np.float32)], 2, keys_floats=[1.0, 2.0, 3.0], values_floats=[0.5, 1.5, 2.5])
    nan = np.array([[1, np.nan], [4, 2]])
    yield case('LabelEncoder NaN', 'LabelEncoder', [nan.astype(np.float32)], 4, keys_floats=[1.0, float('nan'), 3.0], values_floats=[0.5, 1.5, 2.5],
               default_float=9.0)
    yield case('LabelEncoder tensors', 'LabelEncoder', [nan], 4, keys_tensor=tensor('k', [1, 2, 3], np.float64),
               values_tensor=tensor('v', [0.5, 1.5, 2.5], np.float64), default_tensor=tensor('d', [4.5], np.float64))
    yield case('LabelEncoder int64 tensors', 'LabelEncoder', [x], 4, keys_tensor=tensor('k', [1, 2, 3], np.int64),
               values_tensor=tensor('v', [5, 6, 2**60 + 1], np.int64), default_tensor=tensor('d', [2**60 + 3], np.int64))


def set_cases(Case):
    """Trees whose nodes test membership in sets, of which ONNX Runtime has only integers."""
    draw = np.random.RandomState(53)
    for name, modes, dtype in (('sets', SETS, np.float32), ('sets and all modes', MODES + 3 * SETS, np.float32), ('sets float64', SETS, np.float64)):
        for missing in (False, True):
            t = Trees(draw, 5, 4, 3, 2, modes=modes, weights='one', missing=missing)
            x = quarters(draw, 40, 3, missing=missing).astype(dtype)
            yield Case('TreeEnsemble %s%s' % (name, ', NaN' if missing else ''), 'TreeEnsemble', [x], domain=ML, ml=5, want=[t.sums(x)],
                       **t.version_5(dtype, missing=missing, aggregate_function=1, post_transform=0))


def cases(Case):
    yield from tree_cases(Case)
    yield from other_cases(Case)
    yield from set_cases(Case)


def refused(Case):
    """(part of the message, case)."""
    draw = np.random.RandomState(29)
    x = np.zeros((2, 3), np.float32)

    def case(name, op, outputs=1, version=3, given=x, **attributes):
        return Case(name, op, [given], outputs, domain=ML, ml=version, **attributes)
    good = Trees(draw, 2, 2, 3, 1).version_3(False)
    first = good['nodes_modes'].index('BRANCH_LEQ')

    def changed(name, entry, value):
        values = list(good[name])
        values[entry] = value
        return {**good, name: values}
    op = 'TreeEnsembleRegressor'
    for text, more in (
            ("nodes_truenodeids is 99, expected the id of a node of this tree", changed('nodes_truenodeids', first, 99)),
            ("nodes_falsenodeids is -1, expected the id of a node", changed('nodes_falsenodeids', first, -1)),
            ("node 0 of tree 0: two paths lead to it", changed('nodes_truenodeids', first, 0)),
            ("two paths lead to it", changed('nodes_falsenodeids', first, good['nodes_truenodeids'][first]) if good['nodes_modes'][1] != 'LEAF'
             else changed('nodes_falsenodeids', first, 0)),
            ("nodes_featureids is 3, expected 0 to 2, as rows have 3 features", changed('nodes_featureids', first, 3)),
            ("nodes_featureids is -1", changed('nodes_featureids', first, -1)),
            ("expected 0 to 2", changed('nodes_featureids', first, 2**40)),
            ("is listed twice", changed('nodes_nodeids', 1, 0)),
            ("'target_ids': entry 0 is 1, expected 0 to 0", changed('target_ids', 0, 1)),
            ("entry 0 is -1", changed('target_ids', 0, -1)),
            ("which does not exist", changed('target_nodeids', 0, 77)),
            ("the mode is 'BRANCH_MEMBER'", changed('nodes_modes', first, 'BRANCH_MEMBER')),
            ("'nodes_values' has 1 entries", {**good, 'nodes_values': [0.0]}),
            ("'nodes_modes' has 1 entries", {**good, 'nodes_modes': ['LEAF']}),
            ("'target_weights' has 1 entries", {**good, 'target_weights': [0.0]}),
            ("'nodes_missing_value_tracks_true' has 1 entries", {**good, 'nodes_missing_value_tracks_true': [1]}),
            ("'n_targets' is 0", {**good, 'n_targets': 0}),
            ("'n_targets' is 1099511627776", {**good, 'n_targets': 2**40}),
            ("'base_values' has 2 entries, expected 1", {**good, 'base_values': [0.0, 1.0]}),
            ("'aggregate_function' is 'MEDIAN'", {**good, 'aggregate_function': 'MEDIAN'}),
            ("'post_transform' is 'CUBE'", {**good, 'post_transform': 'CUBE'}),
            ("has 0 tree nodes", {'n_targets': 1})):
        yield text, case('trees, ' + text, op, **more)
    chain = dict(nodes_treeids=[0] * 601, nodes_nodeids=list(range(601)), nodes_featureids=[0] * 601, nodes_values=[0.0] * 601,
                 nodes_modes=['BRANCH_LEQ', 'LEAF'] * 300 + ['LEAF'], nodes_truenodeids=[i + 1 for i in range(601)],
                 nodes_falsenodeids=[i + 2 for i in range(601)], target_ids=[0], target_nodeids=[1], target_treeids=[0], target_weights=[1.0],
                 n_targets=1)
    yield "the deepest tree has 300 levels", case('a chain', op, **chain)
    yield "input 0 has 3 axes", case('an image', op, given=np.zeros((2, 3, 4), np.float32), **good)
    yield "input 0 is float16", case('float16', op, given=x.astype(np.float16), **good)
    five = Trees(draw, 2, 2, 3, 1).version_5()
    for text, more in (("tree_roots': entry 0 is 9", {'tree_roots': [9, 0]}), ("has no entries", {'tree_roots': []}),
                       ("nodes_modes is 7", {'nodes_modes': tensor('m', [7] * len(five['nodes_featureids']), np.uint8)}),
                       ("has no members", {'nodes_modes': tensor('m', [6] * len(five['nodes_featureids']), np.uint8)}),
                       ("has more members, expected 1 to 128", {'nodes_modes': tensor('m', [6] * len(five['nodes_featureids']), np.uint8),
                                                                'membership_values': tensor('v', list(range(129)), np.float32)}),
                       ("has more sets than", {'membership_values': tensor('v', [1.0, np.nan], np.float32)}),
                       ("a child is", {'nodes_truenodeids': [50] * len(five['nodes_featureids'])}),
                       ("the flag of a leaf is 2", {'nodes_trueleafs': [2] * len(five['nodes_featureids'])}),
                       ("two paths lead to it", {'tree_roots': [0, 0]}),
                       ("aggregate_function is 4", {'aggregate_function': 4})):
        yield text, case('TreeEnsemble, ' + text, 'TreeEnsemble', version=5, **{**five, **more})
    classes = Trees(draw, 2, 2, 3, 2).version_3(True)
    yield "labels must be integers", case('strings', 'TreeEnsembleClassifier', 2, classlabels_strings=['a', 'b'], **classes)
    yield "has 0 entries, expected 2 or more", case('no labels', 'TreeEnsembleClassifier', 2, **classes)
    yield "base_values of two classes", case('base values', 'TreeEnsembleClassifier', 2, classlabels_int64s=[0, 1], base_values=[0.5, 0.5], **classes)
    yield "'offset' has 2 entries, expected 1", case('offsets', 'Scaler', scale=[1.0], offset=[1.0, 2.0])
    yield "'scale' has 2 entries, expected 1 or 3", case('scales', 'Scaler', scale=[1.0, 1.0], offset=[1.0, 2.0])
    yield "'norm' is 'L3'", case('a norm', 'Normalizer', norm='L3')
    yield "rows have 3 features, expected 4", case('coefficients', 'LinearRegressor', coefficients=[1.0] * 4)
    yield "expected a multiple of 3 rows", case('a rest', 'LinearClassifier', 2, coefficients=[1.0] * 4, intercepts=[0.0] * 3, classlabels_ints=[0, 1, 2])
    yield "train with probability=False", case('probabilities', 'SVMClassifier', 2, vectors_per_class=[1, 1], support_vectors=[1.0] * 6, prob_a=[1.0],
                                               prob_b=[1.0], coefficients=[1.0, 1.0], rho=[0.0], classlabels_ints=[0, 1], kernel_params=[1.0, 0.0, 1.0])
    yield "export as LinearClassifier", case('two linear classes', 'SVMClassifier', 2, coefficients=[1.0] * 6, rho=[0.0], classlabels_ints=[0, 1],
                                             kernel_params=[1.0, 0.0, 1.0])
    yield "post_transform PROBIT", case('PROBIT', 'LinearClassifier', 2, coefficients=[1.0] * 3, intercepts=[0.0], classlabels_ints=[0, 1],
                                        post_transform='PROBIT')
    yield "entry 1 is -1", case('a negative count', 'SVMClassifier', 2, vectors_per_class=[1, -1], support_vectors=[1.0] * 6, coefficients=[1.0, 1.0],
                                rho=[0.0], classlabels_ints=[0, 1], kernel_params=[1.0, 0.0, 1.0])
    yield "'coefficients' has 1 entries, expected 2", case('few coefficients', 'SVMClassifier', 2, vectors_per_class=[1, 1], support_vectors=[1.0] * 6,
                                                           coefficients=[1.0], rho=[0.0], classlabels_ints=[0, 1], kernel_params=[1.0, 0.0, 1.0])
    yield "strings are unsupported", case('keys', 'LabelEncoder', given=np.zeros(2, np.int64), keys_strings=['a'], values_int64s=[1])
    yield "has 2 keys and 1 values", case('values', 'LabelEncoder', given=np.zeros(2, np.int64), keys_int64s=[1, 2], values_int64s=[1])
    yield "expected int64, the type of the keys", case('types', 'LabelEncoder', keys_int64s=[1], values_int64s=[1])
    yield "zipmap=False", case('a ZipMap', 'ZipMap', classlabels_int64s=[0, 1])


def train():
    from sklearn.datasets import load_iris
    from sklearn.ensemble import RandomForestClassifier
    iris = load_iris()
    forest = RandomForestClassifier(n_estimators=8, max_depth=5, random_state=3).fit(iris.data.astype(np.float32), iris.target)
    names = 'nodes_treeids nodes_nodeids nodes_featureids nodes_values nodes_modes nodes_truenodeids nodes_falsenodeids'.split()
    out = {name: [] for name in names + 'class_treeids class_nodeids class_ids class_weights'.split()}
    for t, tree in enumerate(e.tree_ for e in forest.estimators_):
        for n in range(tree.node_count):
            leaf = tree.children_left[n] < 0
            row = [t, n, 0 if leaf else tree.feature[n], 0.0 if leaf else np.float32(tree.threshold[n]), 'LEAF' if leaf else 'BRANCH_LEQ',
                   0 if leaf else tree.children_left[n], 0 if leaf else tree.children_right[n]]
            for name, value in zip(names, row):
                out[name].append(value if isinstance(value, str) else value.item() if hasattr(value, 'item') else value)
            for k, w in enumerate(tree.value[n][0] / tree.value[n][0].sum() / len(forest.estimators_) if leaf else []):
                for name, value in zip(list(out)[7:], (t, n, k, float(np.float32(w)))):
                    out[name].append(value)
    node = helper.make_node('TreeEnsembleClassifier', ['x'], ['label', 'probabilities'], domain=ML, classlabels_int64s=[0, 1, 2], **out)
    graph = helper.make_graph([node], 'iris', [helper.make_tensor_value_info('x', 1, ['n', 4])],
                              [helper.make_tensor_value_info('label', 7, ['n']), helper.make_tensor_value_info('probabilities', 1, ['n', 3])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 18), helper.make_opsetid(ML, 3)], ir_version=8)
    os.makedirs(os.path.dirname(FOREST), exist_ok=True)
    with open(FOREST, 'wb') as f:
        f.write(model.SerializeToString())


if __name__ == '__main__' and sys.argv[1:] == ['--train']:
    train()

#!/usr/bin/env python3
"""Paddle's operators and two networks through libnnadapter.so, driven as Paddle-Lite's NNAdapter bridge drives it.

    test_nnadapter_bridge.py [--only TEXT] [--list] LIBRARY...

Each operator with a converter in the bridge becomes the operations that the converter emits (nnadapter_converters.py), through
the calls of the bridge's engine (nnadapter_bridge.py). The expected values are the operators' definitions in numpy: in float64
(nnadapter_numpy.py), and in exact integers for int8 (nnadapter_codes.py). A float32 result may differ by a number of roundings,
2^-24 of the largest expected value each, which its case states (nnadapter_cases.py). All other results must be equal.

MobileNetV1 and ResNet-18, with random weights and their real numbers of channels, run in float32 and in int8
(nnadapter_networks.py): float32 within 1e-5 of the largest value, int8 equal. Everything runs on the devices reference and cpu.

--only: operators, or networks, whose name has this text. --list prints the operators of Paddle and the functions that emit
them. The last line says "N passed, N failed"; the exit status is 1 when something failed or nothing passed.
"""
import argparse
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import nnadapter_codes  # noqa: E402
import nnadapter_converters  # noqa: E402,F401 registers the converters
import nnadapter_networks  # noqa: E402
import nnadapter_numpy  # noqa: E402
from nnadapter_bridge import CONVERTERS, Device, Library, Program, Refused  # noqa: E402
from nnadapter_cases import Cases, code_cases, eights, floats, real_cases, single  # noqa: E402

DEVICES = ('reference', 'cpu')
NEAR = 1e-5  # of float32 networks, relative to the largest value: 28 layers of sums of at most 4,608 terms

# Paddle-Lite's list of converters (converter/all.h), with grid_sample, which the list has in a comment; then four converters
# that the list lacks.
OPERATORS = '''
abs arg_max arg_min assign batch_norm bilinear_interp bilinear_interp_v2 bmm calib cast clip concat conv2d conv2d_transpose
cos cumsum deformable_conv depthwise_conv2d dropout elementwise_add elementwise_div elementwise_floordiv elementwise_max
elementwise_min elementwise_mul elementwise_pow elementwise_sub equal exp expand expand_v2 fc fill_any_like fill_constant
fill_constant_batch_size_like fill_zeros_like flatten flatten2 flatten_contiguous_range floor
fusion_elementwise_add_activation fusion_elementwise_div_activation fusion_elementwise_floordiv_activation
fusion_elementwise_max_activation fusion_elementwise_min_activation fusion_elementwise_mul_activation
fusion_elementwise_pow_activation fusion_elementwise_sub_activation gather gelu greater_equal greater_than grid_sample
group_norm hard_sigmoid hard_swish instance_norm layer_norm leaky_relu less_equal less_than log log_softmax logical_and
logical_not lookup_table lookup_table_v2 lrn matmul matmul_v2 meshgrid mul multiclass_nms3 nearest_interp nearest_interp_v2
norm not_equal pad2d pad3d pool2d pow prelu prior_box range reduce_max reduce_mean reduce_sum relu relu6 reshape reshape2
roi_align roll rsqrt scale shape shuffle_channel sigmoid silu sin slice softmax softplus split sqrt square squeeze squeeze2
stack strided_slice sum swish tanh tile top_k top_k_v2 transpose transpose2 unsqueeze unsqueeze2 unstack where yolo_box
yolo_box_head yolo_box_parser custom_yolo_box_3d custom_yolo_det'''.split()
NO_CODE = 'its operation has no code in nnadapter.h, whose last one is YOLO_BOX'
NOT_COVERED = {'yolo_box_head': NO_CODE, 'yolo_box_parser': NO_CODE, 'custom_yolo_box_3d': NO_CODE, 'custom_yolo_det': NO_CODE}


class Count:
    """Results of the checks."""

    def __init__(self, only):
        self.passed, self.failed, self.only = 0, 0, only

    def check(self, name, fault):
        """fault: None, or the difference"""
        self.passed, self.failed = self.passed + (fault is None), self.failed + (fault is not None)
        if fault is not None:
            print('FAIL %s: %s' % (name, fault), flush=True)


def wrong(found, want, bound):
    """None, or how a result differs. bound: of float32 results, relative to the largest expected value; 0: equal."""
    if found.shape != want.shape:
        return 'has the shape %s, expected %s' % (list(found.shape), list(want.shape))
    kind = np.dtype(np.float32) if want.dtype == np.float64 else want.dtype
    if found.dtype != kind:
        return 'is %s, expected %s' % (found.dtype, kind)
    if want.dtype.kind != 'f' or bound == 0:
        other = found != want.astype(kind)
        if not other.any():
            return None
        at = tuple(int(k[0]) for k in np.nonzero(other))
        return '%d of %d elements differ; %s is %s, expected %s' % (other.sum(), other.size, list(at), found[at], want[at])
    far, largest = np.abs(found.astype(np.float64) - want), np.abs(want).max(initial=0)
    if not far.max(initial=0) <= bound * largest:
        at = np.unravel_index(np.argmax(far), far.shape)
        return '%s is %.9g, expected %.9g: %.2g of the largest value, bound %.2g' % (
            list(map(int, at)), found[at], want[at], far[at] / largest, bound)
    return None


def run(device, ops, scope, results, feeds=(None, None)):
    """The results of a program by name, for each of the feeds (None: the scope's); or the refusal."""
    try:
        program = Program(device, ops, scope, results)
    except Refused as refusal:
        return refusal
    try:
        return [program.run(values) for values in feeds]
    except Refused as refusal:
        return refusal
    finally:
        program.close()


def operators(count, device):
    """All cases of one operator. Returns the operators that passed a case."""
    covered = set()
    for cases, judge in ((real_cases(), lambda ops, values, scope: nnadapter_numpy.compute(ops, values)),
                         (code_cases(), nnadapter_codes.compute)):
        for kind, text, ops, scope, results, units in cases:
            if count.only not in kind:
                continue
            name = '%s, %s, %s' % (device.name, kind, text)
            want = judge(ops, {**scope.feeds, **scope.weights}, scope)
            found = run(device, ops, scope, results)
            if isinstance(found, Refused):
                count.check(name, found)
                continue
            faults = [fault for values in found for result in results
                      for fault in [wrong(values[result], np.asarray(want[result]), units * 2.0 ** -24)] if fault]
            count.check(name, faults[0] if faults else None)
            covered |= set() if faults else {kind}
    return covered


def networks(count, devices):
    """Two networks in two forms on each device."""
    for name in nnadapter_networks.NETWORKS:
        if count.only not in name:
            continue
        for form, ops, scope, want in nnadapter_networks.forms(name):
            for device in devices:
                found = run(device, ops, scope, nnadapter_networks.RESULTS, [None])
                for result in nnadapter_networks.RESULTS:
                    count.check('%s, %s %s, %s' % (device.name, name, form, result), found if isinstance(found, Refused) else
                                wrong(found[0][result], want[result], NEAR))


def dynamic(count, device):
    """A program with dynamic batch, height and width runs with the shapes of its hints and with another one, also in int8. One
    with fixed dimensions reports INVALID_DIMENSIONS, after which the bridge builds another program."""
    if count.only:
        return
    shapes = [(2, 3, 16, 12), (1, 3, 20, 20), (3, 3, 9, 14)]
    b = nnadapter_networks.Builder(3, 8)
    x = b.conv(b.conv('image', 3, 16, 3, 2), 16, 16, 3, 1, True)
    ops, scope = b.classifier(x, 16, global_pooling=True, adaptive=False)
    feeds = [{'image': b.rng.standard_normal(shape).astype(np.float32)} for shape in shapes]
    scope.feeds = feeds[0]
    values = nnadapter_numpy.compute(ops, {**scope.feeds, **scope.weights})
    coded, codes = nnadapter_networks.in_codes(ops, scope, values, False)
    for form, ops_of, s in (('float32', ops, scope), ('int8', coded, codes)):
        s.dynamic = {'image': [list(shape) for shape in shapes[:2]]}
        found = run(device, ops_of, s, nnadapter_networks.RESULTS, feeds + feeds[:1])
        for k, each in enumerate(feeds):
            if form == 'float32':
                want = nnadapter_numpy.compute(ops_of, {**each, **s.weights})
            else:
                want = nnadapter_codes.compute(ops_of, {**each, **s.weights}, s)
            for result in nnadapter_networks.RESULTS:
                count.check('%s, dynamic %s %s, %s' % (device.name, form, list(shapes[k]), result), found if isinstance(
                    found, Refused) else wrong(found[k][result], want[result], NEAR))
    scope.dynamic = {}
    found = run(device, ops, scope, nnadapter_networks.RESULTS, feeds[1:2])
    count.check('%s, another shape with fixed dimensions' % device.name,
                None if str(found) == 'NNAdapterExecution_compute returned 2' else 'is accepted, or refused as: %s' % found)


def refused(count, device):
    """Forms that converters emit and nnrt does not support, as nnrt_nnadapter.h lists them: FEATURE_NOT_SUPPORTED."""
    cases = Cases()
    image, window = {'X': floats(1, 6, 4, 4)}, {'strides': [2, 2], 'paddings': [1, 1], 'groups': 1, 'dilations': [1, 1]}
    cases.add('lrn', 'an even number of channels', image, {'n': 4})
    cases.add('lrn', 'int8', {'X': eights(1, 6, 4, 4)}, {'n': 5}, scales={'x': single(0.05), 'out': single(0.05)})
    cases.add('instance_norm', 'epsilon 0', image, {'epsilon': 0.0}, outputs={'Y': ['out']})
    cases.add('bilinear_interp', 'a dimension of 1', image, {'align_corners': False, 'align_mode': 0, 'out_h': 1, 'out_w': 4})
    cases.add('conv2d_transpose', 'an output_size that no padding yields',
              {'Input': floats(1, 2, 5, 6), 'Filter': floats(2, 3, 3, 3)}, {
        **window, 'output_size': [15, 11]}, ['Filter'], outputs={'Output': ['out']})
    for kind, text, ops, scope, results, _ in cases.list:
        if count.only in kind:
            found = run(device, ops, scope, results)
            right = str(found) == 'NNAdapterModel_addOperation returned 6'
            count.check('%s, %s, %s' % (device.name, kind, text), None if right else 'is not refused: %s' % found)


def coverage(count, covered):
    """Every operator of the list has a converter here and passes a case, or a reason why not."""
    for kind in OPERATORS:
        right = (kind in covered) != (kind in NOT_COVERED)
        count.check(kind, None if right else 'is not covered, or covered in spite of a reason')
    more = sorted(set(CONVERTERS) - set(OPERATORS))
    count.check('converters', 'not in the list: %s' % more if more else None)
    print('%d of %d operators of Paddle are covered; not:' % (len(covered), len(OPERATORS)))
    for kind, reason in NOT_COVERED.items():
        print('    %s: %s' % (kind, reason))


def main():
    """Runs all; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--only', default='')
    parser.add_argument('--list', action='store_true')
    parser.add_argument('libraries', nargs='*')
    args = parser.parse_args()
    if args.list:
        for kind in OPERATORS:
            print('%-40s %s' % (kind, NOT_COVERED.get(kind) or CONVERTERS[kind].__name__))
        return 0
    count, covered = Count(args.only), set(OPERATORS)
    for path in args.libraries:
        library = Library(os.path.abspath(path))
        devices = [Device(library, name) for name in DEVICES]
        for device in devices:
            covered &= operators(count, device)
            dynamic(count, device)
            refused(count, device)
        networks(count, devices)
        for device in devices:
            device.close()
    if not args.only:
        coverage(count, covered)
    print('%d passed, %d failed' % (count.passed, count.failed))
    return 1 if count.failed or not count.passed else 0


if __name__ == '__main__':
    sys.exit(main())

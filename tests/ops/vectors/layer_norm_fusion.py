"""LAYER_NORM_FUSION."""
import numpy as np
import torch.nn.functional as F

from common import const, f32, FLOATS, LOOSE, loose, name_of, refuse, rounded, some, tensor, write
from quantised_elements import cases


def make(w):
    op = "LAYER_NORM_FUSION"

    def expect(x, gamma, beta, norm, epsilon, affine=True):
        y = F.layer_norm(tensor(x), x.shape[norm:], None, None, float(f32(epsilon)))
        return rounded(y * tensor(gamma) + tensor(beta) if affine else y, x)

    def attrs(norm, params, epsilon, affine=True):
        return {"beginNormAxis": norm, "epsilon": epsilon, "elementwiseAffine": affine, "beginParamsAxis": params}

    plans = [((2, 4), 1, 1), ((2, 4), -1, -1), ((3, 2, 4), 2, 2), ((3, 2, 4), 1, 1), ((3, 2, 4), 1, 2),
             ((3, 2, 4), -2, -2), ((3, 2, 4), 2, 1),
             ((2, 3), 0, 0), ((5,), 0, 0), ((1, 2, 2, 3), 3, 3), ((1, 2, 2, 3), 1, 3), ((1, 2, 2, 3), -3, -1),
             ((2, 1, 2, 1, 3), 2, 4)]
    for n, (shape, norm, params) in enumerate(plans):
        for affine in (True, False):
            dtype = FLOATS[(n + affine) % 3]
            epsilon = (1e-5, 1e-7, 0.25)[n % 3]
            x = some(shape, dtype)
            gamma, beta = some(shape[params:], dtype), some(shape[params:], dtype)
            title = "%s %s axes %d %d%s" % (name_of(dtype), list(shape), norm, params, "" if affine else " not affine")
            w.case(title, op, attrs(norm, params, epsilon, affine), [x, gamma, beta],
                   [expect(x, gamma, beta, norm, epsilon, affine)],
                   tol=loose(dtype))
    x, one, none = np.array([[10000, 10000.5, 10001], [-3000, -3000.5, -3001]], f32), np.ones(3, f32), np.zeros(3, f32)
    w.case("large mean needs two passes", op, attrs(1, 1, 1e-5), [x, one, none], [expect(x, one, none, 1, 1e-5)],
           tol=LOOSE)
    w.case("all equal", op, attrs(1, 1, 1e-5), [np.full((2, 3), 7, f32), one, none + 2], [np.full((2, 3), 2, f32)],
           tol=LOOSE)
    w.case("constant gamma and beta", op, attrs(1, 1, 1e-5), [x, const(one), const(none)],
           [expect(x, one, none, 1, 1e-5)], tol=LOOSE)
    plain = attrs(1, 1, 1e-5)
    refuse(w, "norm axis 2 of rank 2", op, attrs(2, 1, 1e-5), [x, one, none], "INVALID_PARAMETER")
    refuse(w, "norm axis -3 of rank 2", op, attrs(-3, 1, 1e-5), [x, one, none], "INVALID_PARAMETER")
    refuse(w, "params axis 2 of rank 2", op, attrs(1, 2, 1e-5), [x, one, none], "INVALID_PARAMETER")
    refuse(w, "gamma of another length", op, plain, [x, some((2,)), none], "INVALID_SHAPE")
    refuse(w, "beta of another length", op, plain, [x, one, some((4,))], "INVALID_SHAPE")
    refuse(w, "int32", op, plain, [some((2, 3), np.int32), one, none], "INVALID_DATATYPE")
    refuse(w, "absent x", op, plain, [None, one, none], "NULL_PTR")
    refuse(w, "four inputs", op, plain, [x, one, none, none], "INVALID_INPUT")


if __name__ == "__main__":
    write(make, "Expected values: torch.nn.functional.layer_norm in float64.", also=cases("LAYER_NORM_FUSION"))

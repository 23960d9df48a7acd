"""NON_MAX_SUPPRESSION."""
import numpy as np

from common import f16, f32, random, Tensor, write

CORNERS = np.array([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1],
                     [0, 100, 1, 101]]], f32)  # as in ONNX's examples
SCORES = np.array([[[0.9, 0.75, 0.6, 0.95, 0.5, 0.3]]], f32)


def chosen(boxes, scores, most=0, overlap=0, least=None, centre=0, index=np.int64):
    """ONNX's definition in plain loops of float32."""
    rows = []
    boxes, scores = boxes.astype(f32), scores.astype(f32)
    if centre:
        low, high = boxes[..., :2] - boxes[..., 2:] / f32(2), boxes[..., :2] + boxes[..., 2:] / f32(2)
    else:
        low, high = np.minimum(boxes[..., :2], boxes[..., 2:]), np.maximum(boxes[..., :2], boxes[..., 2:])
    for n in range(scores.shape[0]):
        for c in range(scores.shape[1]):
            kept = []
            s = scores[n, c]
            for i in sorted(range(len(s)), key=lambda i: (np.isnan(s[i]), -s[i] if s[i] == s[i] else 0, i)):
                if len(kept) >= most or (least is not None and not s[i] > f32(least)):
                    break
                for k in kept:
                    edge = np.minimum(high[n, i], high[n, k]) - np.maximum(low[n, i], low[n, k])
                    both = edge[0] * edge[1] if (edge > 0).all() else f32(0)
                    area = [np.prod(high[n, j] - low[n, j]) for j in (k, i)]
                    if both > 0 and both / (area[0] + area[1] - both) > f32(overlap):
                        break
                else:
                    kept.append(i)
            rows += [(n, c, i) for i in kept]
    return np.array(rows, index).reshape(-1, 3)


def make(w):
    def go(name, boxes, scores, most=None, overlap=None, least=None, centre=0, index=np.int64, constant=False, shape=()):
        want = chosen(boxes, scores, 0 if most is None else int(most), 0 if overlap is None else overlap, least, centre, index)
        params = [None if most is None else np.full(shape, most, np.asarray(most).dtype),
                  None if overlap is None else np.full(shape, overlap, f32), None if least is None else np.full(shape, least, f32)]
        while params and params[-1] is None:
            params.pop()
        given = [boxes, scores] + [p if p is None else Tensor(p, constant) for p in params]
        w.case(name, "NON_MAX_SUPPRESSION", {"centerPointBox": centre} if centre else {}, given, [want])

    three = np.int64(3)
    for constant in (False, True):
        kind = ", constants" if constant else ""
        go("by overlap" + kind, CORNERS, SCORES, three, 0.5, 0.0, constant=constant)
        go("by overlap and score" + kind, CORNERS, SCORES, three, 0.5, 0.4, constant=constant)
        go("two of them" + kind, CORNERS, SCORES, np.int64(2), 0.5, 0.0, constant=constant, shape=(1,))
        go("none of them" + kind, CORNERS, SCORES, np.int64(0), 0.5, constant=constant)
        go("a negative number of them" + kind, CORNERS, SCORES, np.int32(-2), 0.5, constant=constant)
    go("no number", CORNERS, SCORES)
    go("no number, but thresholds", CORNERS, SCORES, None, 0.5, 0.0)
    go("no thresholds", CORNERS, SCORES, np.int64(9))
    go("no overlap threshold", CORNERS, SCORES, np.int64(9), None, 0.55)
    go("number as int32, result as int32", CORNERS, SCORES, np.int32(4), 0.5, index=np.int32)
    go("corners in any order", CORNERS[..., [2, 1, 0, 3]], SCORES, three, 0.5, 0.0)
    go("corners in the other order", CORNERS[..., [2, 3, 0, 1]], SCORES, three, 0.5, 0.0)
    go("every overlap", CORNERS, SCORES, np.int64(9), 1.0)
    go("no overlap", CORNERS, SCORES, np.int64(9), 0.0)
    go("overlap equal to the threshold is kept", np.array([[[0, 0, 2, 2], [0, 0, 2, 1]]], f32), np.array([[[2, 1]]], f32),
       np.int64(9), 0.5)
    go("overlap just above the threshold", np.array([[[0, 0, 2, 2], [0, 0, 2, 1.25]]], f32), np.array([[[2, 1]]], f32),
       np.int64(9), 0.5)
    go("a score equal to the threshold is dropped", CORNERS, SCORES, np.int64(9), 1.0, 0.75)
    go("equal scores by position", np.repeat(CORNERS[:, :1], 5, 1), np.ones((1, 1, 5), f32), np.int64(9), 0.5)
    go("equal scores by position, apart", CORNERS, np.full((1, 1, 6), 0.5, f32), np.int64(9), 0.5)
    go("boxes without area", np.array([[[1, 1, 1, 1], [1, 1, 1, 1], [0, 0, 2, 2], [1, 0, 1, 9]]], f32),
       np.array([[[4, 3, 2, 1]]], f32), np.int64(9), 0.0)
    go("touching boxes", np.array([[[0, 0, 1, 1], [1, 0, 2, 1], [0, 1, 1, 2]]], f32), np.array([[[1, 2, 3]]], f32),
       np.int64(9), 0.0)
    nan = np.array([[[np.nan, 0.5, np.inf, -np.inf, np.nan, 0.7]]], f32)
    go("NaN and infinite scores", CORNERS, nan, np.int64(9), 0.5)
    go("NaN and infinite scores, above a threshold", CORNERS, nan, np.int64(9), 0.5, 0.1)
    go("NaN in boxes overlaps nothing", np.array([[[0, 0, np.nan, 1], [0, 0, 1, 1], [0, 0, 1, 1]]], f32),
       np.array([[[3, 2, 1]]], f32), np.int64(9), 0.1)
    for dtype in (f32, f16):
        for centre in (0, 1):
            boxes = (random.integers(-40, 41, (2, 12, 4)) * 0.25).astype(dtype)
            if centre:
                boxes[..., 2:] = np.abs(boxes[..., 2:])
            scores = (random.integers(0, 17, (2, 3, 12)) * 0.0625).astype(dtype)
            for overlap in (0.0, 0.25, 0.5, 1.0):
                for least in (None, 0.5):
                    go("random %s centre %d overlap %g, %s" % (np.dtype(dtype), centre, overlap, least), boxes, scores,
                       np.int64(4), overlap, least, centre)
    go("negative edges around a centre", np.array([[[1, 1, -2, -2], [1, 1, 2, 2], [1, 1, 2, -2]]], f32),
       np.array([[[3, 2, 1]]], f32), np.int64(9), 0.1, centre=1)
    go("no images", np.zeros((0, 3, 4), f32), np.zeros((0, 2, 3), f32), three, 0.5)
    go("no boxes", np.zeros((2, 0, 4), f32), np.zeros((2, 2, 0), f32), three, 0.5)
    go("no classes", np.zeros((2, 3, 4), f32), np.zeros((2, 0, 3), f32), three, 0.5)
    go("300 boxes", (random.integers(0, 200, (1, 300, 4)) * 0.5).astype(f32), random.random((1, 2, 300)).astype(f32),
       np.int64(300), 0.3, 0.2)
    go("each class has one box above the threshold", np.tile(CORNERS, (1, 11, 1)), np.eye(66, dtype=f32)[None], three, 0.3, 0.5)
    nan = np.full((1, 1, 64), np.nan, f32)
    nan[0, 0, [3, 32]] = 1
    go("NaN beside two boxes above the threshold", np.tile(CORNERS, (1, 11, 1))[:, :64], nan, three, 0.3, 0.5)

    def bad(name, code, ins, outs=1, like=np.int64, run=False, says=None):
        w.case("refused: " + name, "NON_MAX_SUPPRESSION", {}, ins, [np.zeros((1, 3), like)] * outs, says=says,
               **{"run_error" if run else "error": code})

    for v in (-0.25, 1.25, np.nan):
        bad("iouThreshold %g" % v, "INVALID_PARAMETER", [CORNERS, SCORES, three, np.array(v, f32)], run=True,
            says="iouThreshold is %g, expected 0 to 1" % v)
    bad("boxes of 2 axes", "INVALID_SHAPE", [CORNERS[0], SCORES, three])
    bad("scores of 2 axes", "INVALID_SHAPE", [CORNERS, SCORES[0], three])
    bad("boxes of 5 numbers", "INVALID_SHAPE", [np.zeros((1, 6, 5), f32), SCORES, three])
    bad("other boxes than scores", "INVALID_SHAPE", [CORNERS[:, :5], SCORES, three])
    bad("other images than scores", "INVALID_SHAPE", [np.concatenate([CORNERS, CORNERS]), SCORES, three])
    for n, name in enumerate(("maxOutputBoxesPerClass", "iouThreshold", "scoreThreshold")):
        ins = [CORNERS, SCORES, three, f32(0.5), f32(0)]
        ins[2 + n] = np.full(2, ins[2 + n])
        bad("two of " + name, "INVALID_SHAPE", ins)
        ins[2 + n] = ins[2 + n][0].astype(f32 if n == 0 else np.int64)
        bad("another type of " + name, "INVALID_DATATYPE", ins)
    bad("scores of float16 beside float32", "INVALID_DATATYPE", [CORNERS, SCORES.astype(f16), three])
    bad("float64", "INVALID_DATATYPE", [CORNERS.astype("float64"), SCORES.astype("float64"), three])
    bad("quantised", "UNSUPPORTED_OP", [Tensor(CORNERS.astype(np.int8), quant=[(8, 0, 0.5)]), SCORES, three])
    bad("result of float32", "INVALID_DATATYPE", [CORNERS, SCORES, three], like=f32)
    bad("result of int8", "INVALID_DATATYPE", [CORNERS, SCORES, three], like=np.int8)
    bad("no scores", "NULL_PTR", [CORNERS, None, three])
    bad("one input", "INVALID_INPUT", [CORNERS])
    bad("six inputs", "INVALID_INPUT", [CORNERS, SCORES, three, f32(0), f32(0), f32(0)])
    bad("two results", "INVALID_OUTPUT", [CORNERS, SCORES, three], 2)


if __name__ == "__main__":
    write(make, "Expected values: ONNX's definition in plain loops of float32, as no library here has it.")

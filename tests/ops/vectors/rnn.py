"""RNN."""
from common import write
from gru import cases

if __name__ == "__main__":
    write(lambda w: cases(w, "RNN", 1), "Expected values: ONNX's formulas in float64; torch.nn.RNN must agree where it has them.")

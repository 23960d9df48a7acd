"""MISH."""
import numpy as np
import torch

from common import f16, f32, f64, make_unary, write

POINTS = [0.0, -0.0, 1e-30, -1e-30, 1e-4, 0.1, -0.25, 0.5, 1.0, -1.192, -1.5, 2.5, -3.0, 5.0, -10.0, 12.0, 17.3, 19.9, 20.0, 20.1, 30.0, 39.9,
          40.0, 40.1, -20.0, -50.0, -80.0, 100.0, 1e4, 1e30, -1e30, np.inf, -np.inf, np.nan]
# Below -87 the float32 e^x is subnormal: it is accurate to 1e-43.
TOLERANCES = {f32: (1e-43, 4e-7), f16: (6e-8, 1e-3), f64: (1e-320, 2e-15)}


def mish(x):
    t = torch.from_numpy(np.array(x))
    y = torch.where(t < -30, t * torch.exp(t), t * torch.tanh(torch.log1p(torch.exp(-t.abs())) + t.clamp(min=0)))
    return torch.where(t < -1e300, torch.zeros_like(t), y).numpy()  # the limit, where the formula has -inf * 0


if __name__ == "__main__":
    write(make_unary("MISH", mish, POINTS, TOLERANCES), "Expected values: torch's tanh, log1p and exp in float64.")

"""AVERAGE_POOL_3D."""
from common import write
from max_pool_3d import cases

if __name__ == "__main__":
    write(lambda w: cases(w, True), "Expected values: loops over windows in float64; torch must agree where it has them.")

"""BITWISE_NOT."""
from common import INTEGERS, make_unary, write


if __name__ == "__main__":
    write(make_unary("BITWISE_NOT", None, [], whole=lambda v: ~v, types=INTEGERS), "Expected values: Python integers.")

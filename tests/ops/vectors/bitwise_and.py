"""BITWISE_AND."""
from common import INTEGERS, make_exact, write


if __name__ == "__main__":
    write(make_exact("BITWISE_AND", None, lambda a, b: a & b, types=INTEGERS), "Expected values: Python integers.")

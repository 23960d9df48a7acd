"""ARGMAX_FUSION."""
from common import make_arg, write

if __name__ == "__main__":
    write(make_arg("ARGMAX_FUSION"), "Expected values: Python's sorted; compared with numpy.argmax.")

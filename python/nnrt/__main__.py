"""python -m nnrt: the command line."""
import os
import sys

from . import _nnrt


def main() -> int:
    """Runs the command in sys.argv."""
    return int(_nnrt.main([b"nnrt", *map(os.fsencode, sys.argv[1:])]))


if __name__ == "__main__":
    sys.exit(main())

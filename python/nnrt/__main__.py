"""python -m nnrt: the command line."""
import ctypes
import os
import sys

from . import _nnrt


def main() -> int:
    """Runs the command in sys.argv."""
    arguments = [b"nnrt", *map(os.fsencode, sys.argv[1:])]
    return int(ctypes.CDLL(_nnrt.__file__).nnrt_main(len(arguments), (ctypes.c_char_p * (len(arguments) + 1))(*arguments)))


if __name__ == "__main__":
    sys.exit(main())

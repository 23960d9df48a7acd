"""python -m nnrt: the command line."""
import sys

from .tools import main

sys.exit(main())

"""ARGMAX_FUSION."""
import requantised
from common import make_arg, write

if __name__ == "__main__":
    write(make_arg("ARGMAX_FUSION"), "Expected values: Python's sorted; compared with numpy.argmax.",
          also=requantised.cases("ARGMAX_FUSION"))

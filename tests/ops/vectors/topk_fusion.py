"""TOPK_FUSION."""
import requantised
from common import make_top, write

if __name__ == "__main__":
    write(make_top("TOPK_FUSION"), "Expected values: Python's sorted; compared with torch.topk.",
          also=requantised.cases("TOPK_FUSION"))

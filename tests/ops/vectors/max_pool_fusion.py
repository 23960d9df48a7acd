"""MAX_POOL_FUSION."""

from common import make_pool, maximum_expect, write
from quantised import pool_cases


if __name__ == "__main__":
    write(make_pool("MAX_POOL_FUSION", maximum_expect),
          "Expected values: torch.nn.functional.max_pool2d in float64.",
          also=lambda w: pool_cases(w, "MAX_POOL_FUSION"))

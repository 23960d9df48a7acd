"""MAX_POOL_FUSION."""

from common import make_pool, maximum_expect, write


if __name__ == "__main__":
    write(make_pool("MAX_POOL_FUSION", maximum_expect),
          "Expected values: torch.nn.functional.max_pool2d in float64.")

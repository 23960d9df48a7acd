"""RANDOM_NORMAL."""
from common import write
from random_numbers import fill, normal

if __name__ == "__main__":
    write(lambda w: fill(w, "RANDOM_NORMAL", normal),
          "Expected values: the generator in Python's integers, what follows with numpy in float64.")

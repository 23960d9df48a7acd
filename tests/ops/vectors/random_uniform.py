"""RANDOM_UNIFORM."""
from common import write
from random_numbers import fill, uniform

if __name__ == "__main__":
    write(lambda w: fill(w, "RANDOM_UNIFORM", uniform),
          "Expected values: the generator in Python's integers, what follows with numpy in float64.")

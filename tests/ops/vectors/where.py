"""WHERE."""
import requantised
from common import make_choice, write


if __name__ == "__main__":
    write(make_choice, "Expected values: numpy.where, with the rule of rows; torch agrees.", "WHERE",
          also=requantised.cases("WHERE"))

"""Fuzzing: every parser gives a value or one of our errors, within bounds, and its figures add up."""

from typing import Final

FINDING: Final = "FINDING "
"""What begins the line of a log that names the file of a finding's input."""

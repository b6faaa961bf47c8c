"""Brickbat in Python: the program, a strict provider for unit tests, and a check of histories.

`python -m brickbat` runs the program. This package also adds the fixture `strict_provider` to pytest.
"""

from brickbat_rules import BrickbatError, assert_history

from brickbat._binary import binary
from brickbat.provider import Armed, Refusal, Report, StrictProvider

__all__ = ["Armed", "BrickbatError", "Refusal", "Report", "StrictProvider", "assert_history", "binary"]

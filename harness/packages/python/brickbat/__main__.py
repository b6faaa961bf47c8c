"""Runs the program in place of this process."""

import os
import sys

from brickbat._binary import binary

path = binary()
os.execv(path, [path, *sys.argv[1:]])

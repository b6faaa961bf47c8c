"""Runs the program in place of this process."""

import os
import sys

from brickbat import binary

path = binary()
os.execv(path, [path, *sys.argv[1:]])

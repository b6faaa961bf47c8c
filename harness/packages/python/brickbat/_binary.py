"""Finds the program."""

import os
import shutil
import sysconfig


def binary() -> str:
    """Returns the path of the program installed with this package, or else of the one on PATH."""
    places = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")]
    for place in places:
        path = os.path.join(place, "brickbat")
        if os.access(path, os.X_OK):
            return path
    found = shutil.which("brickbat")
    if found is None:
        raise FileNotFoundError("the program brickbat is not installed; install this package again")
    return found

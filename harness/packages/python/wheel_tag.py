"""Tags the wheel with the platforms of its binary, which `dist/build` sets."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WheelTag(BuildHookInterface):
    def initialize(self, version, build_data):
        build_data["pure_python"] = False
        build_data["tag"] = os.environ["BRICKBAT_WHEEL_TAG"]

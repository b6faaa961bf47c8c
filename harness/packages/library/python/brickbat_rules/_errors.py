"""The error of this package."""


class BrickbatError(Exception):
    """Brickbat itself failed. This is not a verdict on the agent."""

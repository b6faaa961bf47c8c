"""Runs one filter. Put your own function in the place of `trim`."""

from brickbat_filter import serve


def trim(request, budget):
    """Keeps the instructions and the newest messages."""
    system = [message for message in request["messages"] if message["role"] == "system"]
    others = [message for message in request["messages"] if message["role"] != "system"]
    return {**request, "messages": system + others[-budget["messages"] :]}


MODES = {"trim": trim}
serve(lambda asked: {"request": MODES[asked["mode"]](asked["request"], asked.get("budget"))})

"""Speaks Brickbat's protocol for the driver of a filter. It is independent of the filter."""

import asyncio
import contextlib
import inspect
import json
import sys

# The protocol uses standard output.
OUT, sys.stdout = sys.stdout, sys.stderr


class Unsupported(Exception):
    """The history cannot be given to the filter, for a reason that is not the filter's."""


@contextlib.contextmanager
def conversion():
    """Runs the SDK's own conversion. A history that it rejects never reaches the filter, so it is unsupported."""
    try:
        yield
    except Exception as error:
        raise Unsupported(f"{type(error).__name__}: {error}") from error


def serve(answer, default=None):
    """
    Answers each question with `answer(question)`, which may be a coroutine function: a dict with `request`, the body, and
    optionally `notes` and `size`. An exception is an error of the filter. `default` converts values that JSON lacks.
    """
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            told = answer(asked)
            if inspect.isawaitable(told):
                told = loop.run_until_complete(told)
            text = json.dumps({"id": asked["id"], **told}, default=default)
        except Unsupported as error:
            text = json.dumps({"id": asked["id"], "unsupported": str(error)})
        except Exception as error:
            text = json.dumps({"id": asked["id"], "error": {"kind": type(error).__name__, "message": str(error)}})
        print(text, file=OUT, flush=True)

"""Standard interruption tests to subclass, for pytest.

The tests of each dated set are data, in the folder `standard`. `standard.js` has the same tests for vitest and node:test.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any, Callable

from brickbat._standard_play import Play, Setup, StandardFailure, StandardTool

__all__ = ["Setup", "StandardFailure", "StandardInterruptionTests", "StandardTool"]

SETS = Path(__file__).parent / "standard"


class StandardInterruptionTests:
    """Subclass this, name the set and the dialect, and define `make_agent`."""

    requirements: str
    """The dated set of tests, such as `2026-12`. A newer version of this package runs the same set."""
    dialect: str
    """The dialect that the agent speaks, such as `anthropic-messages`."""
    lacks: dict[str, str] = {}
    """Capabilities that the agent does not have (`stop`, `store`, `streaming`, `parallel`), each with a reason. The tests
    that need them are skipped with it."""
    expected_failures: dict[str, str] = {}
    """Tests that fail for a known reason. Such a test is reported as `xfail`, and as a failure once it passes."""
    provider_options: dict[str, Any] = {}
    """Options of the strict provider, such as `host`."""

    def make_agent(self, setup: Setup) -> Any:
        """Makes an agent over `setup.store`.

        It has the method `turn(text)`, which runs a turn and returns or raises, and may be a coroutine function. `stop()`
        stops the running turn from another thread; without it, the task of a coroutine is cancelled. `close()` is optional.
        """
        raise NotImplementedError(f"{type(self).__name__} needs the method make_agent(setup)")

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = {f"test_{spec['name']}": method(spec["name"], spec["proves"]) for spec in cls.standard_set()["tests"]}
        for name in [*own, *dir(cls)]:
            # A method that a user has written comes first. A test of the set of a parent class is replaced.
            if name in own and not hasattr(cls, name) or is_standard(getattr(cls, name, None)):
                setattr(cls, name, own.get(name))

    @classmethod
    def standard_set(cls) -> dict[str, Any]:
        """Reads the set that the class names, and checks the class."""

        def fail(words: str) -> None:
            raise TypeError(f"{cls.__name__}: {words}")

        known = sorted(path.stem for path in SETS.glob("*.json"))
        named = getattr(cls, "requirements", None)
        if named is None:
            fail(f'name the set of tests, such as requirements = "{known[-1]}"')
        if named not in known:
            fail(f'unknown requirements "{named}"; this version of brickbat has {", ".join(known)}')
        found = json.loads((SETS / f"{named}.json").read_text("utf-8"))
        if getattr(cls, "dialect", None) is None:
            fail('name the dialect that the agent speaks, such as dialect = "anthropic-messages"')
        capabilities = found["capabilities"]
        for lacked, reason in cls.lacks.items():
            if lacked not in capabilities:
                fail(f'unknown capability "{lacked}" in lacks; expected {", ".join(capabilities)}')
            if not isinstance(reason, str) or not reason.strip():
                fail(f'lacks["{lacked}"] needs a reason')
        if all(capability in cls.lacks for capability in capabilities):
            fail("the agent lacks every capability, so nothing can be interrupted")
        names = {spec["name"] for spec in found["tests"]}
        unknown = [name for name in cls.expected_failures if name.removeprefix("test_") not in names]
        if unknown:
            fail(f"expected_failures names {unknown[0]}, which is not in {named}")
        return found

    @classmethod
    def skip_reason(cls, name: str) -> str | None:
        """The reason why a test of the set is skipped, if it is."""
        spec = spec_of(cls.standard_set(), name)
        for need in spec.get("needs", []):
            if need in cls.lacks:
                return f"needs {need}: {cls.lacks[need]}"
        unless = spec.get("unless")
        if unless and unless not in cls.lacks:
            return f"does not apply to an agent with the capability {unless}"
        return f"{cls.dialect} sends a call in one piece" if cls.dialect in spec.get("not_in", []) else None

    def run_standard_test(self, name: str) -> None:
        """Runs one test of the set, and raises if it fails."""
        found = self.standard_set()
        with tempfile.TemporaryDirectory(prefix="brickbat-standard-") as folder:
            play = Play(self, found, spec_of(found, name), Path(folder))
            try:
                play.run()
            finally:
                play.close()


def spec_of(found: dict[str, Any], name: str) -> dict[str, Any]:
    for spec in found["tests"]:
        if spec["name"] == name:
            return spec
    raise TypeError(f"the set {found['set']} has no test {name}")


def is_standard(member: Any) -> bool:
    return getattr(member, "is_of_standard_set", False)


def method(name: str, proves: str) -> Callable[[Any], None]:
    """The method of a test."""

    def test(self: StandardInterruptionTests) -> None:
        import pytest

        if reason := self.skip_reason(name):
            pytest.skip(reason)
        known = self.expected_failures
        expected = known.get(name, known.get(f"test_{name}"))
        try:
            self.run_standard_test(name)
        except StandardFailure as error:
            failed = str(error)
        else:
            failed = None
        if failed and expected is None:
            pytest.fail(failed, pytrace=False)
        if failed:
            pytest.xfail(f"{expected}\n{failed}")
        if expected is not None:
            pytest.fail(f"{name} passes; remove it from expected_failures", pytrace=False)

    test.is_of_standard_set = True  # type: ignore[attr-defined]
    test.__name__ = test.__qualname__ = f"test_{name}"
    test.__doc__ = proves
    return test

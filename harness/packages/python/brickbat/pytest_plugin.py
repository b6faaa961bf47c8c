"""The fixture `strict_provider` for pytest.

A test fails at its end if the provider refused a request, in the provider's words. Options of the provider stand in a marker:
`@pytest.mark.strict_provider(host="api.deepseek.com", allow_refusals=True)`.
"""

from __future__ import annotations

from typing import Iterator

import pytest

from brickbat_rules import BrickbatError

from brickbat.provider import StrictProvider

PROVIDERS = pytest.StashKey[list[StrictProvider]]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "strict_provider(**options): how the provider of the fixture `strict_provider` behaves."
    )


@pytest.fixture
def strict_provider(request: pytest.FixtureRequest) -> Iterator[StrictProvider]:
    """A strict provider for this test only, on a free local port."""
    options = {}
    # The marker of a test overrides those of its class and module.
    for marker in reversed(list(request.node.iter_markers("strict_provider"))):
        options.update(marker.kwargs)
    provider = StrictProvider(**options)
    request.node.stash.setdefault(PROVIDERS, []).append(provider)
    try:
        yield provider
    finally:
        provider.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Runs the check during the call phase, so that the test fails instead of its teardown."""
    providers = item.stash.get(PROVIDERS, [])
    try:
        result = yield
    except Exception:
        # The provider's report is usually the cause.
        for words in map(problems, providers):
            item.add_report_section("call", "brickbat", words)
        raise
    found = "\n".join(filter(None, map(problems, providers)))
    if found:
        pytest.fail(found, pytrace=False)
    return result


def problems(provider: StrictProvider) -> str:
    try:
        return "\n".join(provider.problems())
    except BrickbatError as error:
        return str(error)

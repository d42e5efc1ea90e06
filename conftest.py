"""What every test folder shares, the plugins' included: hypothesis profiles and the switch for slow tests."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# A test run on any machine sees the same examples, and a busy machine is not a failure.
settings.register_profile("steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
# `scripts/check.py --all` gives --hypothesis-profile=explore and so meets examples nobody has seen yet.
settings.register_profile(
    "explore", settings.get_profile("steady"), derandomize=False, max_examples=500, print_blob=True
)
settings.load_profile("steady")

# Tests start many processes; each would compile all that it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--slow`."""
    parser.addoption("--slow", action="store_true", help="also run the tests marked slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skips what is marked slow unless `--slow` is given."""
    if config.getoption("--slow"):
        return
    skip = pytest.mark.skip(reason="slow; give --slow")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)

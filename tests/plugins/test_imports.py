from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"numpy", "asyncio", "httpx", "httpcore", "jsonschema_rs", "pydantic"}


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("from talekeeper.plugins import Host", HEAVY | {"pluggy"}),
        ("from talekeeper.api import PluginContext, Registry, hookimpl", HEAVY),
    ],
    ids=["a host that runs no plugin", "what a plugin imports"],
)
def test_what_is_not_used_is_not_loaded(code: str, absent: set[str]) -> None:
    shown = f"import sys; {code}; print(*{{name.partition('.')[0] for name in sys.modules}})"

    loaded = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True).stdout.split()

    assert absent & set(loaded) == set()

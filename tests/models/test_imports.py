from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"httpx", "httpcore", "pydantic", "jsonschema_rs"}


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        (
            "import talekeeper.models, talekeeper.trace",
            {"httpx", "httpcore", "pydantic", "jsonschema_rs", "tomli", "ssl"},
        ),
        (
            "from pathlib import Path; from talekeeper.models import open_models; open_models(Path('nowhere'))",
            HEAVY,
        ),
    ],
    ids=["the rooms", "no-model mode"],
)
def test_what_is_not_used_is_not_loaded(code: str, absent: set[str]) -> None:
    shown = f"import sys; {code}; print(*{{name.partition('.')[0] for name in sys.modules}})"

    loaded = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True).stdout.split()

    assert absent & set(loaded) == set()

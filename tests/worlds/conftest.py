"""A home with one plugin of the test's own, and world files written into it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from talekeeper.home import Home

MANIFEST = """
[plugin]
id = "ledger"
version = "1.0.0"
api = 1
summary = "Keeps entries."

[contributes.data.entries]
version = 1
schema = "entry.schema.json"
limit = 3
search = { text = "body" }

[contributes.data.rules]
version = 1
schema = "entry.schema.json"
scope = "workspace"
"""

SCHEMA = {
    "type": "object",
    "properties": {
        "body": {"type": "string", "minLength": 1},
        "weight": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["body"],
    "additionalProperties": False,
}

Write = Callable[[str], str]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    plugin = tmp_path / "plugins" / "ledger"
    plugin.mkdir(parents=True)
    (plugin / "plugin.toml").write_text(MANIFEST)
    (plugin / "entry.schema.json").write_text(json.dumps(SCHEMA))
    monkeypatch.delenv("TALEKEEPER_PLUGINS", raising=False)
    with Home.open(tmp_path / "home", plugin_folders=[tmp_path / "plugins"], tracing=False) as opened:
        opened.host.enable("ledger")
        yield opened


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a world file and gives its name."""

    def world(text: str) -> str:
        file = tmp_path / "world.toml"
        file.write_text(text, encoding="utf-8")
        return str(file)

    return world

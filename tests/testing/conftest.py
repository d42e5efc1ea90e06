"""Plugins of all kinds written to disk, and runs of pytest as an author starts them."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "body": {"type": "string", "minLength": 1},
        "enabled": {"type": "boolean"},
    },
    "required": ["body"],
    "additionalProperties": False,
}
ENTRIES = '[contributes.data.entries]\nschema = "entries.schema.json"\nsearch = { text = "body", title = "name" }\n'


@pytest.fixture(scope="session")
def write_plugin() -> Callable[..., Path]:
    """Writes `<folder>/<id>`; more files beside the manifest are given as name__suffix = text."""

    def write(folder: Path, plugin_id: str, *, body: str = ENTRIES, head: str = "", **files: str) -> Path:
        root = folder / plugin_id
        root.mkdir()
        manifest = f'[plugin]\nid = "{plugin_id}"\nversion = "1.0.0"\napi = 1\nsummary = "For a test."\n{head}\n{body}'
        texts = {"plugin.toml": manifest, "entries.schema.json": json.dumps(SCHEMA)}
        texts |= {name.replace("__", "."): textwrap.dedent(text) for name, text in files.items()}
        for name, text in texts.items():
            (root / name).write_text(text, encoding="utf-8")
        return root

    return write


@pytest.fixture
def make_plugin(tmp_path: Path, write_plugin: Callable[..., Path]) -> Callable[..., Path]:
    """The same in `tmp_path`, called `lore` unless named."""

    def make(plugin_id: str = "lore", **more: str) -> Path:
        return write_plugin(tmp_path, plugin_id, **more)

    return make


@pytest.fixture(scope="session")
def run_pytest() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs pytest over a text as `<folder>/test_it.py`, as an author starts it, every warning an error."""

    def run(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
        (folder / "test_it.py").write_text(textwrap.dedent(text), encoding="utf-8")
        command = [sys.executable, "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
        return subprocess.run([*command, "test_it.py"], cwd=folder, capture_output=True, text=True, check=False)

    return run

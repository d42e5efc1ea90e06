"""Plugins written to disk for the tests: a manifest, a schema and code, in folders of their own."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

MakePlugin = Callable[..., Path]

SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {"body": {"type": "string"}, "name": {"type": "string"}},
    "required": ["body"],
}


@pytest.fixture
def make_plugin(tmp_path: Path) -> MakePlugin:
    """Writes `<folder>/<id>` with a manifest, `entries.schema.json` and, when `code` is given, `code.py`."""

    def make(
        plugin_id: str,
        code: str | None = None,
        *,
        more: str = "",
        plugin: str = "",
        data: str = 'search = { text = "body" }',
        version: str = "1.0.0",
        folder: Path | None = None,
    ) -> Path:
        root = (folder or tmp_path / "home" / "plugins") / plugin_id
        root.mkdir(parents=True, exist_ok=True)
        module = 'module = "code"\n' if code is not None else ""
        manifest = (
            f'[plugin]\nid = "{plugin_id}"\nversion = "{version}"\napi = 1\nsummary = "For a test."\n{module}{plugin}\n'
            f'[contributes.data.entries]\nschema = "entries.schema.json"\n{data}\n{textwrap.dedent(more)}'
        )
        (root / "plugin.toml").write_text(manifest, encoding="utf-8")
        (root / "entries.schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
        if code is not None:
            (root / "__init__.py").write_text("", encoding="utf-8")
            (root / "code.py").write_text(textwrap.dedent(code), encoding="utf-8")
        return root

    return make


@pytest.fixture
def no_entries() -> Callable[[], tuple[EntryPoint, ...]]:
    """An environment in which nothing is installed."""
    return tuple

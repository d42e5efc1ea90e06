"""Plugins written to disk for the tests: a manifest, a schema and code, in folders of their own."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from talekeeper.clock import FixedClock
from talekeeper.db import Database
from talekeeper.ids import SortableIds
from talekeeper.plugins import Host
from talekeeper.search import Index
from talekeeper.story import Story

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
def clock() -> FixedClock:
    """A clock at a time of no meaning."""
    return FixedClock(datetime(2026, 3, 1, tzinfo=UTC))


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store just made; each test works on a copy."""
    path = tmp_path_factory.mktemp("empty") / "store.sqlite"
    Database.open(path, clock=FixedClock(datetime(2026, 3, 1, tzinfo=UTC))).close()
    return path


@pytest.fixture
def story(tmp_path: Path, clock: FixedClock, empty_store: Path) -> Iterator[Story]:
    """An empty store in a real file."""
    shutil.copy(empty_store, tmp_path / "store.sqlite")
    db = Database.open(tmp_path / "store.sqlite", clock=clock, synchronous="OFF")
    yield Story(db, Index(), clock, SortableIds(clock))
    db.close()


@pytest.fixture
def open_host(story: Story, clock: FixedClock, tmp_path: Path) -> Callable[..., Host]:
    """A host over the store, as a new process would make it, with nothing installed."""

    def make(**options: Any) -> Host:
        options = {"folder": tmp_path / "home" / "plugins", "entries": tuple, **options}
        return Host(story, clock, **options)

    return make

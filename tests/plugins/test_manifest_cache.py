"""A large seed is held against its schema once, and again when anything of the package changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from talekeeper.errors import ManifestError
from talekeeper.manifest import Folder, read_manifest
from talekeeper.plugins import Host, State
from talekeeper.plugins.manifest_cache import LARGE, read_cached
from talekeeper.story import Story

MakePlugin = Callable[..., Path]
OpenHost = Callable[..., Host]

SEEDED = 'scope = "workspace"\nseed = "seed.jsonl"\nsearch = { text = "body" }\n'


def _seed(root: Path, size: int, last: object = "the end") -> None:
    lines = [json.dumps({"id": f"k{number}", "body": "word " * 200}) for number in range(size // 1000)]
    (root / "seed.jsonl").write_text("\n".join([*lines, json.dumps({"id": "last", "body": last})]))


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many lines of a seed each reading of one has given."""
    counted: list[int] = []
    real = Folder.read

    def read(package: Folder, path: str, limit: int) -> bytes:
        raw = real(package, path, limit)
        if path == "seed.jsonl":
            counted.append(len(raw.splitlines()))
        return raw

    monkeypatch.setattr(Folder, "read", read)
    return counted


@pytest.mark.parametrize(("size", "again"), [(LARGE + 5_000, []), (5_000, [6, 6])], ids=["large", "small"])
def test_only_a_large_seed_is_remembered(
    make_plugin: MakePlugin, open_host: OpenHost, checked: list[int], size: int, again: list[int]
) -> None:
    _seed(make_plugin("lore", data=SEEDED), size)

    states = [open_host().plugins[0].state for _ in range(3)]

    assert states == [State.VALID] * 3
    assert checked == [size // 1000 + 1, *again]


def test_what_is_declared_is_the_same_either_way(make_plugin: MakePlugin, story: Story) -> None:
    root = make_plugin("lore", data=SEEDED)
    _seed(root, LARGE + 5_000)
    path = root / "plugin.toml"

    first, second = (read_cached(story, path) for _ in range(2))

    assert first == second == read_manifest(path)


@pytest.mark.parametrize("file", ["seed.jsonl", "plugin.toml", "entries.schema.json"])
def test_a_change_of_any_file_is_noticed(make_plugin: MakePlugin, story: Story, checked: list[int], file: str) -> None:
    root = make_plugin("lore", data=SEEDED)
    _seed(root, LARGE + 5_000)
    read_cached(story, root / "plugin.toml")

    (root / file).write_text((root / file).read_text() + "\n")
    read_cached(story, root / "plugin.toml")

    assert checked[0] == checked[1] > 0


def test_a_seed_that_no_longer_holds_is_refused(make_plugin: MakePlugin, story: Story) -> None:
    root = make_plugin("lore", data=SEEDED)
    _seed(root, LARGE + 5_000)
    read_cached(story, root / "plugin.toml")
    _seed(root, LARGE + 5_000, last=3)

    told = [_refusal(story, root) for _ in range(2)]

    assert told[0] == told[1]
    assert "body" in told[0]


def _refusal(story: Story, root: Path) -> str:
    with pytest.raises(ManifestError) as raised:
        read_cached(story, root / "plugin.toml")
    return str(raised.value)

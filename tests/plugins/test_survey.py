from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from talekeeper.plugins.discovery import discover
from talekeeper.plugins.resolver import Plugin, State, read_plugins

MakePlugin = Callable[..., Path]


def _survey(home: Path, *folders: Path) -> list[tuple[str, State, str]]:
    plugins: tuple[Plugin, ...] = read_plugins(discover(home=home, folders=folders, entries=tuple))
    return [(plugin.id, plugin.state, plugin.reason) for plugin in plugins]


@pytest.fixture
def home(make_plugin: MakePlugin) -> Path:
    """A folder of plugins with one good plugin in it."""
    return make_plugin("good").parent


def test_a_good_plugin_is_valid(home: Path) -> None:
    assert _survey(home) == [("good", State.VALID, "")]


@pytest.mark.parametrize(
    ("manifest", "told"),
    [
        pytest.param("[plugin", "plugin.toml", id="syntax"),
        pytest.param("", "plugin.toml", id="empty"),
        pytest.param("x = '" + "y" * 70_000 + "'", "plugin.toml", id="over 64 KiB"),
        pytest.param("x = " + "[" * 5_000 + "]" * 5_000, "plugin.toml", id="nested 5,000 deep"),
        pytest.param('[plugin]\nid = "lоre"\nversion = "1"\napi = 1\n', "id", id="a Cyrillic letter in the id"),
        pytest.param('[plugin]\nid = "other"\nversion = "1"\napi = 1\nsummary = "s"\n', "'other'", id="another id"),
        pytest.param('[plugin]\nid = "bad"\nversoin = "1"\napi = 1\n', "version", id="misspelt key"),
        pytest.param("\ufeff\0", "plugin.toml", id="binary"),
    ],
)
def test_an_invalid_manifest_is_named_and_its_neighbour_valid(home: Path, manifest: str, told: str) -> None:
    (home / "bad").mkdir()
    (home / "bad" / "plugin.toml").write_text(manifest, encoding="utf-8")

    bad, good = _survey(home)

    assert bad[:2] == ("bad", State.INVALID)
    assert told in bad[2]
    assert good[1] is State.VALID


def test_a_manifest_that_is_a_folder_is_told(home: Path) -> None:
    (home / "bad" / "plugin.toml").mkdir(parents=True)

    bad, good = _survey(home)

    assert bad[1] is State.INVALID
    assert good[1] is State.VALID


def test_another_host_version_makes_a_plugin_incompatible(home: Path, make_plugin: MakePlugin) -> None:
    make_plugin("later", plugin='requires-host = ">=99"')

    _, later = _survey(home)

    assert later[:2] == ("later", State.INCOMPATIBLE)
    assert ">=99" in later[2]


def test_of_two_with_one_id_the_first_stands_and_the_other_names_both_places(
    home: Path, make_plugin: MakePlugin, tmp_path: Path
) -> None:
    twin = make_plugin("good", folder=tmp_path / "more")

    first, second = _survey(home, twin.parent)

    assert first == ("good", State.VALID, "")
    assert second[:2] == ("good", State.BLOCKED)
    assert str(home / "good") in second[2]
    assert str(twin) in second[2]


def test_an_unsafe_plugin_is_blocked(home: Path, make_plugin: MakePlugin) -> None:
    make_plugin("open").chmod(0o777)

    _, unsafe = _survey(home)

    assert unsafe[:2] == ("open", State.BLOCKED)

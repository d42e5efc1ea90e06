from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest
from talekeeper.plugins.discovery import Found, Origin, discover

MakePlugin = Callable[..., Path]


def _none() -> tuple[EntryPoint, ...]:
    return ()


def _entry(name: str, value: str, distribution: str) -> EntryPoint:
    entry = EntryPoint(name, value, "talekeeper.plugins")
    vars(entry)["dist"] = SimpleNamespace(name=distribution)
    return entry


def _folder(home: Path) -> list[Found]:
    return discover(home=home, entries=_none)


def test_a_missing_home_folder_holds_no_plugin(tmp_path: Path) -> None:
    assert discover(home=tmp_path / "plugins", entries=_none) == []


def test_folders_of_the_home_are_found_by_name(make_plugin: MakePlugin, tmp_path: Path) -> None:
    make_plugin("lore")
    make_plugin("atlas")
    (tmp_path / "home" / "plugins" / ".git").mkdir()
    (tmp_path / "home" / "plugins" / "notes.txt").write_text("")

    found = _folder(tmp_path / "home" / "plugins")

    assert [(one.names, one.origin, one.fault) for one in found] == [
        (("atlas",), Origin.HOME, ""),
        (("lore",), Origin.HOME, ""),
    ]


@pytest.fixture
def site(tmp_path: Path, make_plugin: MakePlugin, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the import path, with one package whose import would be noticed."""
    root = make_plugin("lore_pack", "raise AssertionError('imported')", folder=tmp_path / "site")
    (root / "__init__.py").write_text("raise AssertionError('imported')")
    (tmp_path / "site" / "single.py").write_text("raise AssertionError('imported')")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    return tmp_path / "site"


@pytest.mark.parametrize(("distribution", "origin"), [("talekeeper", Origin.BUNDLED), ("lore-pack", Origin.INSTALLED)])
def test_an_entry_point_is_found_without_importing_its_package(site: Path, distribution: str, origin: Origin) -> None:
    found = discover(home=None, entries=lambda: [_entry("lore", "lore_pack", distribution)])

    assert found == [Found(("lore",), origin, str(site / "lore_pack"), site / "lore_pack", "lore_pack")]
    assert "lore_pack" not in sys.modules


def test_a_package_inside_a_package_is_found_without_importing_either(site: Path, make_plugin: MakePlugin) -> None:
    make_plugin("inner", folder=site / "lore_pack")

    found = discover(home=None, entries=lambda: [_entry("inner", "lore_pack.inner", "x")])

    assert found[0].root == site / "lore_pack" / "inner"
    assert "lore_pack" not in sys.modules


@pytest.mark.parametrize("value", ["no_such_package", "single", "lore_pack.gone", "__main__", "json", ""])
def test_an_entry_point_that_leads_nowhere_is_told(site: Path, value: str) -> None:
    (found,) = discover(home=None, entries=lambda: [_entry("lore", value, "lore-pack")])

    assert found.root is None
    assert "entry point 'lore' names" in found.fault


@pytest.mark.parametrize("value", ["lore_pack.", "lore_pack..", "lore_pack.in-ner", "lore-pack", "lore_pack.{place}"])
def test_an_entry_point_is_dotted_words_and_no_path(site: Path, make_plugin: MakePlugin, value: str) -> None:
    make_plugin("in-ner", folder=site / "lore_pack")
    make_plugin("lore-pack", folder=site)
    elsewhere = make_plugin("elsewhere")

    (found,) = discover(home=None, entries=lambda: [_entry("lore", value.format(place=elsewhere), "lore-pack")])

    assert found.root is None
    assert "is no importable package" in found.fault


def test_a_path_into_a_project_is_known_by_what_the_project_announces(make_plugin: MakePlugin, tmp_path: Path) -> None:
    root = make_plugin("lore", folder=tmp_path / "project")
    announced = '[project.entry-points."talekeeper.plugins"]\nother = "lore"\n'
    (tmp_path / "project" / "pyproject.toml").write_text(announced)

    (found,) = discover(home=None, paths=[root], entries=_none)

    assert found.names == ("other",)


def test_a_project_folder_leads_to_the_package_its_pyproject_announces(make_plugin: MakePlugin, tmp_path: Path) -> None:
    project = tmp_path / "lore-project"
    make_plugin("lore_pack", folder=project / "src")
    (project / "pyproject.toml").write_text('[project.entry-points."talekeeper.plugins"]\nlore = "lore_pack"\n')

    (found,) = discover(home=None, folders=[tmp_path], entries=_none)

    assert (found.names, found.root, found.package) == (("lore",), project / "src" / "lore_pack", "lore_pack")


def test_a_project_folder_with_one_package_needs_no_pyproject(make_plugin: MakePlugin, tmp_path: Path) -> None:
    make_plugin("lore_pack", folder=tmp_path / "all" / "lore")
    (tmp_path / "all" / "lore" / "tests").mkdir()

    (found,) = discover(home=None, folders=[tmp_path / "all"], entries=_none)

    assert (found.names, found.package) == (("lore", "lore_pack"), "lore_pack")


@pytest.mark.parametrize("text", ["not toml [", "[project]\nentry-points = 3\n", "[project.entry-points]\nx = 1\n"])
def test_an_odd_pyproject_is_no_announcement(make_plugin: MakePlugin, tmp_path: Path, text: str) -> None:
    make_plugin("one", folder=tmp_path / "all" / "lore")
    make_plugin("two", folder=tmp_path / "all" / "lore")
    (tmp_path / "all" / "lore" / "pyproject.toml").write_text(text)

    (found,) = discover(home=None, folders=[tmp_path / "all"], entries=_none)

    assert "holds neither" in found.fault


@pytest.mark.parametrize(
    ("files", "told"),
    [
        pytest.param(["harbour.toml", "notes.md"], [], id="worlds-and-notes"),
        pytest.param([], ["other"], id="empty"),
        pytest.param(["plugin.tml"], ["other"], id="a-misspelt-manifest"),
        pytest.param(["Plugin.toml"], ["other"], id="a-manifest-in-capitals"),
        pytest.param(["note.schema.json"], ["other"], id="a-schema"),
        pytest.param(["pyproject.toml"], ["other"], id="a-project"),
        pytest.param(["hooks.py"], ["other"], id="code"),
    ],
)
def test_a_folder_beside_plugins_is_told_of_unless_it_holds_something_else(
    make_plugin: MakePlugin, tmp_path: Path, files: list[str], told: list[str]
) -> None:
    make_plugin("lore", folder=tmp_path / "all")
    (tmp_path / "all" / "other").mkdir()
    for name in files:
        (tmp_path / "all" / "other" / name).touch()

    found = discover(home=None, folders=[tmp_path / "all"], entries=_none)

    assert [one.names[0] for one in found if one.fault] == told


@pytest.mark.parametrize("tail", ["", "plugin.toml"])
def test_a_path_may_name_the_folder_or_its_manifest(make_plugin: MakePlugin, tail: str) -> None:
    root = make_plugin("lore")

    (found,) = discover(home=None, paths=[root / tail], entries=_none)

    assert (found.names[0], found.origin, found.root) == ("lore", Origin.PATH, root)


@pytest.mark.parametrize("inside", [pytest.param("lore", id="flat"), pytest.param("lore/src", id="src")])
def test_a_path_to_a_package_may_carry_the_name_of_the_project_around_it(
    make_plugin: MakePlugin, tmp_path: Path, inside: str
) -> None:
    root = make_plugin("lore_pack", folder=tmp_path / inside)

    (found,) = discover(home=None, paths=[root], entries=_none)

    assert found.names == ("lore_pack", "lore")


def test_a_path_to_nothing_is_told(tmp_path: Path) -> None:
    (found,) = discover(home=None, paths=[tmp_path / "gone"], entries=_none)

    assert "is not a plugin's folder" in found.fault


def test_one_folder_found_in_two_ways_is_listed_once(make_plugin: MakePlugin, tmp_path: Path) -> None:
    root = make_plugin("lore")

    found = discover(home=root.parent, folders=[root.parent], paths=[root], entries=_none)

    assert [one.origin for one in found] == [Origin.HOME]


def test_a_plugins_folder_that_is_itself_a_plugin_is_that_plugin(make_plugin: MakePlugin) -> None:
    root = make_plugin("lore")

    (found,) = discover(home=None, folders=[root], entries=_none)

    assert (found.origin, found.root) == (Origin.PATH, root)


def _world_writable(root: Path) -> None:
    root.chmod(0o777)


def _writable_file(root: Path) -> None:
    (root / "deep").mkdir()
    (root / "deep" / "data.json").write_text("{}")
    (root / "deep" / "data.json").chmod(0o666)


def _link_out(root: Path) -> None:
    (root / "secret.jsonl").symlink_to("/etc/passwd")


def _pipe(root: Path) -> None:
    os.mkfifo(root / "pipe")


@pytest.mark.skipif(os.name != "posix", reason="rights and links of POSIX")
@pytest.mark.parametrize(
    ("harm", "told"),
    [
        pytest.param(_world_writable, "everybody may write to", id="world-writable folder"),
        pytest.param(_writable_file, "everybody may write to .*data.json", id="world-writable file deep inside"),
        pytest.param(_link_out, "leads out of the plugin, to /etc/passwd", id="link out"),
        pytest.param(_pipe, "neither a file nor a folder", id="pipe"),
    ],
)
def test_an_unsafe_folder_is_not_read_and_its_neighbour_is(
    make_plugin: MakePlugin, harm: Callable[[Path], None], told: str
) -> None:
    root = make_plugin("lore")
    make_plugin("other")
    harm(root)

    unsafe, other = _folder(root.parent)

    assert unsafe.unsafe
    assert unsafe.root is None
    assert re.search(told, unsafe.fault)
    assert other.fault == ""


@pytest.mark.skipif(os.name != "posix", reason="rights and links of POSIX")
def test_nothing_is_taken_from_a_folder_everybody_may_write_to(make_plugin: MakePlugin) -> None:
    root = make_plugin("lore")
    root.parent.chmod(0o777)

    (found,) = _folder(root.parent)

    assert found.unsafe


@pytest.mark.skipif(os.name != "posix", reason="rights and links of POSIX")
def test_a_plugin_that_is_a_link_out_of_its_folder_is_refused(make_plugin: MakePlugin, tmp_path: Path) -> None:
    root = make_plugin("lore", folder=tmp_path / "elsewhere")
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "lore").symlink_to(root)

    (found,) = _folder(tmp_path / "plugins")

    assert found.unsafe
    assert "leads out" in found.fault


@pytest.mark.skipif(os.name != "posix", reason="rights and links of POSIX")
def test_a_link_that_stays_inside_is_fine(make_plugin: MakePlugin) -> None:
    root = make_plugin("lore")
    (root / "again.json").symlink_to(root / "entries.schema.json")

    (found,) = _folder(root.parent)

    assert found.fault == ""

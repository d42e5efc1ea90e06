"""What `validate-plugin` is pointed at: folders, projects, wheels, installed distributions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from talekeeper.manifest import entry_points
from talekeeper.manifest.package import GROUP
from talekeeper.manifest.targets import check_target

SCHEMA = '{"type": "object", "required": ["body"], "properties": {"body": {"type": "string"}}}'


@pytest.fixture
def write(head: str, data: str) -> Callable[..., Path]:
    """Writes a sound plugin, with code that leaves a trace when it runs, into a folder."""

    def written(root: Path, plugin: str = "lore") -> Path:
        root.mkdir(parents=True)
        (root / "plugin.toml").write_text(head.replace('"lore"', f'"{plugin}"') + data, encoding="utf-8")
        (root / "entries.schema.json").write_text(SCHEMA, encoding="utf-8")
        (root / "__init__.py").write_text(f"open({str(root / 'ran')!r}, 'w').close()\n", encoding="utf-8")
        return root

    return written


Write = Callable[..., Path]


def project(
    root: Path, announced: str = 'lore = "lore_plugin"', backend: str = "hatchling.build", more: str = ""
) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    text = f'[build-system]\nrequires = []\nbuild-backend = "{backend}"\n'
    text += '[project]\nname = "lore-plugin"\nversion = "0.1.0"\n'
    if announced:
        text += f'[project.entry-points."talekeeper.plugins"]\n{announced}\n'
    (root / "pyproject.toml").write_text(text + more, encoding="utf-8")
    return root


def told(target: Path | str) -> list[str]:
    return [f"{it.code} {Path(it.file).name}" for it in check_target(str(target)).diagnostics]


def test_a_plugin_folder_carries_its_id(write: Write, tmp_path: Path) -> None:
    assert told(write(tmp_path / "lore")) == []
    assert told(write(tmp_path / "other") / "plugin.toml") == ["TK408 plugin.toml"]


@pytest.mark.parametrize("inner", ["lore_plugin", "src/lore_plugin"])
def test_a_package_alone_in_a_folder_may_carry_its_name(write: Write, tmp_path: Path, inner: str) -> None:
    package = write(tmp_path / "lore" / inner)

    alone = [*told(tmp_path / "lore"), *told(package), *told(package / "plugin.toml")]
    write(tmp_path / "lore" / "another")

    assert alone == []
    assert told(package) == ["TK408 plugin.toml"]


@pytest.mark.parametrize("inner", ["lore_plugin", "src/lore_plugin"])
def test_an_announced_package_is_known_by_its_entry_point(write: Write, tmp_path: Path, inner: str) -> None:
    root = project(tmp_path / "project")
    package = write(root / inner)

    assert told(root) == told(package) == told(package / "plugin.toml") == []


def test_the_entry_point_of_a_project_equals_the_id(write: Write, tmp_path: Path) -> None:
    root = project(tmp_path / "project", 'lorebook = "lore_plugin"')
    write(root / "lore_plugin")

    assert told(root) == ["TK403 plugin.toml"]


def test_a_project_that_announces_nothing_is_told(write: Write, tmp_path: Path) -> None:
    root = project(tmp_path / "project", announced="")
    package = write(root / "src" / "lore_plugin")

    assert told(package) == ["TK402 pyproject.toml"]


def test_a_project_that_says_later_what_it_announces_is_believed(write: Write, tmp_path: Path) -> None:
    root = project(tmp_path / "project", announced="", more='dynamic = ["entry-points"]\n')
    write(root / "lore")

    assert told(root) == []


def test_a_project_whose_package_has_no_manifest_is_told(tmp_path: Path) -> None:
    root = project(tmp_path / "project")
    (root / "lore_plugin").mkdir()

    assert told(root) == ["TK401 pyproject.toml"]


def test_entry_points_of_poetry_count(write: Write, tmp_path: Path) -> None:
    poetry = '[tool.poetry.plugins."talekeeper.plugins"]\nlore = "lore_plugin"\n'
    root = project(tmp_path / "project", announced="", backend="poetry.core.masonry.api", more=poetry)
    package = write(root / "lore_plugin")

    assert told(package) == []


@pytest.mark.parametrize(
    ("backend", "more", "kept"),
    [
        ("setuptools.build_meta", "", False),
        ("setuptools.build_meta", '[tool.setuptools.package-data]\nlore_plugin = ["*.toml"]\n', True),
        ("setuptools.build_meta", '[tool.setuptools.package-data]\n"*" = ["plugin.toml"]\n', True),
        ("setuptools.build_meta", '[tool.setuptools.package-data]\nlore_plugin = ["*.json"]\n', False),
        ("hatchling.build", "", True),
        ("hatchling.build", '[tool.hatch.build.targets.wheel]\nexclude = ["*.toml"]\n', False),
        ("hatchling.build", '[tool.hatch.build]\nexclude = ["/lore_plugin/plugin.toml"]\n', False),
        ("flit_core.buildapi", "", True),
    ],
)
def test_a_build_that_would_leave_the_manifest_out_is_told(
    write: Write, tmp_path: Path, backend: str, more: str, *, kept: bool
) -> None:
    root = project(tmp_path / "project", backend=backend, more=more)
    write(root / "lore_plugin")

    assert told(root) == ([] if kept else ["TK409 pyproject.toml"])


def test_a_manifest_file_of_setuptools_keeps_the_manifest(write: Write, tmp_path: Path) -> None:
    root = project(tmp_path / "project", backend="setuptools.build_meta")
    write(root / "lore_plugin")
    (root / "MANIFEST.in").write_text("include lore_plugin/plugin.toml\n", encoding="utf-8")

    assert told(root) == []


def test_all_plugins_of_a_folder_are_checked_beside_each_other(write: Write, tmp_path: Path) -> None:
    plugins = tmp_path / "plugins"
    for name in ("lore", "moon", "sun"):
        write(plugins / name, name)
    write(plugins / ".hidden" / "lore")
    write(plugins / "node_modules" / "lore")
    (plugins / "moon" / "plugin.toml").write_text("a = ", encoding="utf-8")

    result = check_target(str(plugins))

    assert [Path(it.file).parent.name for it in result.examined] == ["lore", "moon", "sun"]
    assert told(plugins) == ["TK005 plugin.toml"]


def test_one_id_in_two_places_names_both(write: Write, tmp_path: Path) -> None:
    for place in ("here", "there"):
        write(tmp_path / "plugins" / place / "lore")

    (diagnostic,) = check_target(str(tmp_path / "plugins")).diagnostics

    assert diagnostic.code == "TK109"
    assert diagnostic.file == str(tmp_path / "plugins" / "there" / "lore" / "plugin.toml")
    assert str(tmp_path / "plugins" / "here" / "lore" / "plugin.toml") in diagnostic.message


def test_nothing_of_a_plugin_is_run(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(tmp_path / "site" / "lore_plugin")
    installed(tmp_path / "site", "lore = lore_plugin")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])

    assert told(root)[:1] == ["TK408 plugin.toml"]
    assert told("lore-plugin") == []
    assert not (root / "ran").exists()
    assert "lore_plugin" not in sys.modules


def installed(site: Path, entries: str, version: str = "0.1.0") -> None:
    info = site / f"lore_plugin-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: lore-plugin\nVersion: {version}\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[talekeeper.plugins]\n{entries}\n", encoding="utf-8")


def test_an_installed_distribution_is_found_by_its_name_in_any_spelling(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "site" / "lore_plugin")
    installed(tmp_path / "site", "lore = lore_plugin")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])

    for name in ("lore-plugin", "lore_plugin", "Lore.Plugin"):
        (examined,) = check_target(name).examined
        assert examined.checked.id == "lore"


@pytest.mark.parametrize(
    ("entries", "version", "codes"),
    [
        ("lorebook = lore_plugin", "0.1.0", ["TK403"]),
        ("lore = lore_plugin:register", "0.1.0", ["TK404"]),
        ("lore = lore_plugin_x", "0.1.0", ["TK405"]),
        ("lore = lore_plugin.inner", "0.1.0", ["TK405"]),
        ("lore = lore_plugin.empty", "0.1.0", ["TK401"]),
        ("lore = lore_plugin.", "0.1.0", ["TK405"]),
        ("lore = lore_plugin./", "0.1.0", ["TK405"]),
        ("lore = lore_plugin", "0.1.1", ["TK407"]),
        ("lore = lore_plugin", "0.1.0.0", []),
    ],
)
def test_entry_point_package_and_manifest_are_of_one_mind(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entries: str, version: str, codes: list[str]
) -> None:
    root = write(tmp_path / "site" / "lore_plugin")
    (root / "empty").mkdir()
    installed(tmp_path / "site", entries, version)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])

    assert [it.code for it in check_target("lore-plugin").diagnostics] == codes
    assert not (root / "ran").exists()


def test_a_wheel_is_checked_without_being_unpacked(
    write: Write, tmp_path: Path, wheel_of: Callable[[Path], Path]
) -> None:
    write(tmp_path / "build" / "lore_plugin")
    installed(tmp_path / "build", "lore = lore_plugin")

    wheel = wheel_of(tmp_path / "build")

    (examined,) = check_target(str(wheel)).examined
    assert examined.file == f"{wheel}/lore_plugin/plugin.toml"
    assert examined.checked.diagnostics == []
    assert sorted(it.name for it in tmp_path.iterdir()) == ["build", wheel.name]


def test_a_file_the_manifest_names_must_be_in_the_wheel(
    write: Write, tmp_path: Path, wheel_of: Callable[[Path], Path]
) -> None:
    root = write(tmp_path / "build" / "lore_plugin")
    (root / "entries.schema.json").rename(tmp_path / "entries.schema.json")
    installed(tmp_path / "build", "lore = lore_plugin")

    assert told(wheel_of(tmp_path / "build")) == ["TK301 plugin.toml"]


def test_a_damaged_member_is_told(write: Write, tmp_path: Path, wheel_of: Callable[[Path], Path]) -> None:
    write(tmp_path / "build" / "lore_plugin")
    installed(tmp_path / "build", "lore = lore_plugin")
    wheel = wheel_of(tmp_path / "build")
    raw = wheel.read_bytes()
    wheel.write_bytes(raw.replace(b'id = "lore"', b'id = "fork"', 1))

    assert told(wheel) == [f"TK406 {wheel.name}"]


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("[talekeeper.plugins\nlore = lore\n", [1, 2]),
        ("lore = lore\n", [1]),
        ("[console_scripts]\nlore lore\n[talekeeper.plugins]\nlore = lore_plugin\n", [2]),
        ("[talekeeper.plugins]\nlore = lore_plugin\nlore = lore_plugin\n", [3]),
        ("[talekeeper.plugins]\nlore =\n", [2]),
        ("[talekeeper.plugins]\n= lore\n", [2]),
        ("# a word\n\n[talekeeper.plugins]\n; another\n lore = lore_plugin \n", []),
    ],
)
def test_each_malformed_line_of_the_entry_points_is_told(text: str, faults: list[int]) -> None:
    found = entry_points.parse(text)

    assert [int(it.split(":")[1]) for it in found.faults] == faults
    assert found.entries == (() if "lore_plugin" not in text else (EntryPoint("lore", "lore_plugin", GROUP),))


def test_one_malformed_file_hides_no_other_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in (("broken", b"[a]\nb c\n[talekeeper.plugins]\nhalf = half\n"), ("latin", b"\xff"), ("lore", b"")):
        info = tmp_path / f"{name}-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: {name}\nVersion: 1\n", encoding="utf-8")
        (info / "entry_points.txt").write_bytes(text or b"[talekeeper.plugins]\nlore = lore\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    found = {entry.name for entry in entry_points.installed()}

    assert {"half", "lore", "memory"} <= found
    assert [it.message for it in check_target("latin").diagnostics] == ["entry_points.txt is not UTF-8"]


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("", "the target is blank"),
        ("  ", "the target is blank"),
        ("~/lore", "nothing has put your home folder in place"),
        ("https://example.org/plugin.toml", "this is an address, and nothing is fetched"),
        ("x" * 5000, "this cannot be read: file name too long"),
        ("nowhere", "there is no such file, folder or installed distribution"),
    ],
)
def test_a_target_is_refused_for_what_it_is(target: str, says: str) -> None:
    (diagnostic,) = check_target(target).diagnostics

    assert says in diagnostic.message
    assert diagnostic.file == target


@pytest.mark.parametrize("target", ["no-such-thing", "", "a/b/c", "x" * 5000, "a\0b"])
def test_a_target_that_is_nothing_is_unreadable(target: str) -> None:
    result = check_target(target)

    assert result.unreadable
    assert [it.code for it in result.diagnostics] == ["TK001"]


def test_the_bundled_plugin_holds() -> None:
    result = check_target("talekeeper")

    assert result.diagnostics == []

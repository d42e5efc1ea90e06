"""The project of a new plugin: what it is called, what is in it, and that it holds from the first minute."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import tomli
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from talekeeper.cli import run as run_cli
from talekeeper.errors import InputError, ParameterError
from talekeeper.manifest import PLUGIN_ID, check_target, published_text
from talekeeper.scaffold import check_id, package_name, write_project

Command = Callable[..., subprocess.CompletedProcess[str]]

KINDS = [pytest.param(False, id="code"), pytest.param(True, id="data-only")]


@pytest.fixture
def python(tmp_path: Path) -> Command:
    """Runs a module in the new project's folder, as its author would."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=tmp_path / "tavern-tales",
            env={**os.environ, "PYTHONWARNINGS": "error"},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def _tree(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("data_only", KINDS)
def test_nothing_can_be_said_against_a_new_project(tmp_path: Path, data_only: bool) -> None:
    files = write_project("tavern-tales", tmp_path / "tavern-tales", data_only=data_only)

    checked = check_target(str(tmp_path / "tavern-tales"))

    assert checked.diagnostics == []
    assert sorted(_tree(tmp_path / "tavern-tales")) == sorted(file.as_posix() for file in files)
    assert any(file.suffix == ".py" and file.parts[0] != "tests" for file in files) is not data_only


@pytest.mark.parametrize("data_only", KINDS)
def test_its_own_tests_pass(tmp_path: Path, python: Command, data_only: bool) -> None:
    write_project("tavern-tales", tmp_path / "tavern-tales", data_only=data_only)

    run = python("pytest", "-q", "-W", "error", "-p", "no:cacheprovider")

    assert "5 passed" in run.stdout, run.stdout + run.stderr


@pytest.mark.parametrize("data_only", KINDS)
def test_its_wheel_validates_and_holds_the_package(tmp_path: Path, python: Command, data_only: bool) -> None:
    for tool in ("build", "hatchling"):
        pytest.importorskip(tool, reason="builds wheels; comes with the extra dev")
    files = write_project("tavern-tales", tmp_path / "tavern-tales", data_only=data_only)

    run = python("build", "--wheel", "--no-isolation")

    (wheel,) = (tmp_path / "tavern-tales" / "dist").glob("*.whl")
    assert run.returncode == 0, run.stdout + run.stderr
    assert check_target(str(wheel)).diagnostics == []
    assert wheel.name == "talekeeper_tavern_tales-0.1.0-py3-none-any.whl"
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert packed == {file.as_posix() for file in files if file.parts[0] == "talekeeper_tavern_tales"}


def test_editors_complete_the_manifest_from_the_published_schema(tmp_path: Path) -> None:
    write_project("tavern-tales", tmp_path / "tavern-tales")

    manifest = tmp_path / "tavern-tales" / "talekeeper_tavern_tales" / "plugin.toml"
    first = manifest.read_text().splitlines()[0]

    assert first == "#:schema ../plugin.schema.json"
    assert (manifest.parent / first.removeprefix("#:schema ")).read_text("utf-8") == published_text()


@pytest.mark.parametrize("data_only", KINDS)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.from_regex(PLUGIN_ID, fullmatch=True))
@example(name="a")
@example(name="true")
@example(name="x" * 64)
@example(name="e-1-2")
def test_every_name_that_is_taken_makes_a_sound_project(tmp_path: Path, data_only: bool, name: str) -> None:
    try:
        check_id(name)
    except ParameterError:
        return
    shutil.rmtree(tmp_path / name, ignore_errors=True)

    write_project(name, tmp_path / name, data_only=data_only)

    assert check_target(str(tmp_path / name)).diagnostics == []
    assert (
        tomli.loads((tmp_path / name / "pyproject.toml").read_text("utf-8"))["project"]["name"] == f"talekeeper-{name}"
    )


@pytest.mark.parametrize("there", ["file", "folder", "link"])
def test_what_is_there_is_not_written_over(tmp_path: Path, there: str) -> None:
    folder = tmp_path / "tavern-tales"
    if there == "file":
        folder.write_text("mine")
    elif there == "folder":
        folder.mkdir()
    else:
        folder.symlink_to(tmp_path / "nowhere")

    with pytest.raises(InputError, match="it is there already, and nothing was written"):
        write_project("tavern-tales", folder)

    assert [path.name for path in tmp_path.iterdir()] == ["tavern-tales"]


def test_a_project_that_cannot_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.write_text

    def full(self: Path, *arguments: str, **options: str) -> int:
        if self.name == "register.py":
            raise OSError(28, "No space left on device", str(self))
        return real(self, *arguments, **options)

    monkeypatch.setattr(Path, "write_text", full)

    with pytest.raises(InputError, match="the project cannot be written: no space left on device; nothing is left"):
        write_project("tavern-tales", tmp_path / "tavern-tales")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["/proc", "/dev/null", "a-file/inner", "x" * 300])
def test_a_place_that_takes_no_folder_is_told_in_one_sentence(tmp_path: Path, place: str) -> None:
    (tmp_path / "a-file").touch()

    with pytest.raises(InputError, match=r"tavern-tales: the project cannot be written: [a-z ]+; nothing is left"):
        write_project("tavern-tales", tmp_path / place / "tavern-tales")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("con", 'Windows has no folder called "con"'),
        ("lpt1", 'Windows has no folder called "lpt1"'),
        ("lore-", 'one at the end; did you mean "lore"'),
        ("lore--book", 'two hyphens in a row or one at the end; did you mean "lore-book"'),
        ("talekeeper", '"talekeeper" is the host itself'),
        ("class", 'a word or a module of Python.s own; .* such as "class-notes"'),
        ("json", 'a word or a module of Python.s own; .* such as "json-notes"'),
        ("Tavern Tales", 'a plugin id has "T".* did you mean "tavern-tales"'),
        ("tavern_tales", 'a plugin id has "_".* did you mean "tavern-tales"'),
        ("lorebооk", 'CYRILLIC SMALL LETTER O.* did you mean "lorebook"'),
        ("9lives", 'a plugin id begins with "9", not with a letter a–z'),
        ("", "a plugin id is empty"),
        ("../lore", 'a plugin id has "."'),
        ("a" * 65, "a plugin id has 65 characters, at most 64 are allowed"),
        ("lore\n", "a plugin id has"),
        ("memory", 'a plugin "memory" is installed here already; choose another name'),
    ],
)
def test_a_name_that_is_no_id_is_told_what_could_be(name: str, told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        check_id(name)


def test_a_name_that_is_installed_says_how_it_is_uninstalled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "tavern_tales-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.4\nName: tavern-tales\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[talekeeper.plugins]\ntavern-tales = talekeeper_tavern_tales\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    with pytest.raises(ParameterError, match=r"choose another name; or .* pip uninstall tavern-tales"):
        check_id("tavern-tales")


def test_a_package_that_is_there_is_not_shadowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / package_name("tavern-tales")).mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    with pytest.raises(ParameterError, match='its package would be called "talekeeper_tavern_tales", and there is one'):
        check_id("tavern-tales")


def test_the_command_makes_the_folder_where_it_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run_cli(["new-plugin", "tavern-tales", "--directory", str(tmp_path / "plugins")])

    told = capsys.readouterr().out
    assert code == 0
    assert (tmp_path / "plugins" / "tavern-tales" / "talekeeper_tavern_tales" / "plugin.toml").is_file()
    assert "  talekeeper_tavern_tales/plugin.toml\n" in told


def test_the_command_refuses_in_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run_cli(["new-plugin", "Tavern", "--directory", str(tmp_path)])

    told = capsys.readouterr()
    assert (code, told.out, told.err.count("\n")) == (1, "", 1)
    assert list(tmp_path.iterdir()) == []


def test_what_to_do_next_can_be_typed_as_it_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_cli(["new-plugin", "tavern-tales", "--directory", str(tmp_path / "my plugins; $HOME")])

    told = capsys.readouterr().err
    assert f"next:  cd '{tmp_path}/my plugins; $HOME/tavern-tales'  then" in told


@pytest.mark.parametrize(
    ("directory", "folder"), [("~", "home"), ("~/plugins", "home/plugins"), ("~no-such-person", "~no-such-person")]
)
def test_a_tilde_that_no_shell_has_replaced_is_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, directory: str, folder: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)

    code = run_cli(["new-plugin", "tavern-tales", f"--directory={directory}"])

    assert code == 0
    assert (tmp_path / folder / "tavern-tales" / "pyproject.toml").is_file()

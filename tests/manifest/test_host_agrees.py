"""What validate-plugin finds wrong keeps a plugin out of a host, with the same code for a reason."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from talekeeper.errors import ManifestError, TalekeeperError
from talekeeper.manifest import codes
from talekeeper.manifest.targets import check_target
from talekeeper.plugins import State, discover, read_plugins
from talekeeper.testing import Host

HERE = Path(__file__).parent
FILES = sorted(it.stem for it in (HERE / "bad").glob("TK*.toml"))
WITH_CODE = sorted(code for code in codes.BY_ID if code.startswith("TK5"))


@pytest.fixture
def as_plugin(tmp_path: Path) -> Callable[[str], Path]:
    """The bad manifest of a code as `plugin.toml` of a folder that carries their id."""

    def made(code: str) -> Path:
        folder = tmp_path / "lore"
        folder.mkdir()
        for it in (HERE / "bad").iterdir():
            if it.is_file() and not it.name.startswith("TK"):
                shutil.copy(it, folder)
        shutil.copy(HERE / "bad" / f"{code}.toml", folder / "plugin.toml")
        return folder

    return made


@pytest.mark.parametrize("code", FILES)
def test_a_host_takes_what_has_no_error_and_nothing_else(code: str, as_plugin: Callable[[str], Path]) -> None:
    folder = as_plugin(code)

    errors = [it.code for it in check_target(str(folder)).diagnostics if it.severity == "error"]
    (plugin,) = read_plugins(discover(home=None, paths=[folder], entries=tuple))

    assert (plugin.state in {State.VALID, State.INCOMPATIBLE}) == (not errors)
    assert plugin.state is not State.INVALID or any(it in plugin.reason for it in errors)
    assert plugin.state is not State.INCOMPATIBLE or plugin.reason


@pytest.mark.parametrize("code", WITH_CODE)
def test_code_that_the_checker_refuses_fails_in_a_host(code: str, tmp_path: Path) -> None:
    shutil.copytree(HERE / "bad" / code, tmp_path / "plugins")
    (folder,) = (it.parent for it in (tmp_path / "plugins").rglob("plugin.toml"))

    with Host(tmp_path / "home", strict=False) as host:
        # What fails only when it is loaded again passes the first time.
        if code == "TK506":
            assert host.add(folder)
        else:
            with pytest.raises(TalekeeperError) as caught:
                host.add(folder)
            assert not isinstance(caught.value, ManifestError)


ANNOUNCES = '[project]\nname = "p"\nversion = "1"\n[project.entry-points."talekeeper.plugins"]\n'
PROJECTS = {
    "none": None,
    "tools alone": "[tool.ruff]\n",
    "cut off": "[project",
    "says later": '[project]\nname = "p"\ndynamic = ["entry-points"]\n',
    "announced": f'{ANNOUNCES}lore = "{{package}}"\n',
    "announced otherwise": f'{ANNOUNCES}other = "{{package}}"\n',
}


@pytest.mark.parametrize("text", PROJECTS.values(), ids=PROJECTS)
@pytest.mark.parametrize("place", ["", "{package}", "src/{package}"], ids=["bare", "flat", "src"])
@pytest.mark.parametrize("package", ["lore", "lore_pack"])
@pytest.mark.parametrize("top", ["lore", "other"])
def test_both_know_a_plugin_by_the_same_names(
    tmp_path: Path, top: str, package: str, place: str, text: str | None
) -> None:
    project = tmp_path / top
    root = project / place.format(package=package)
    shutil.copytree(HERE / "good" / "minimal", root)
    manifest = root / "plugin.toml"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace('id = "minimal"', 'id = "lore"'), encoding="utf-8")
    if text is not None:
        (project / "pyproject.toml").write_text(text.format(package=package), encoding="utf-8")

    for given in (project, root):
        errors = [it.code for it in check_target(str(given)).diagnostics if it.severity == "error"]
        (plugin,) = read_plugins(discover(home=None, paths=[given], entries=tuple))
        assert (plugin.state is State.VALID) == (not errors), (given, errors, plugin.reason)

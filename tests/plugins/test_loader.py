from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from talekeeper.errors import PluginError
from talekeeper.manifest import POINTS, PluginManifest
from talekeeper.plugins.discovery import Found, Origin
from talekeeper.plugins.guard import Deadlines, Guard
from talekeeper.plugins.loader import NAMED_BY, Loader
from talekeeper.plugins.resolver import Plugin, State

GOOD = """
from talekeeper.api import hookimpl
from .helper import answer

@hookimpl
def talekeeper_register(registry):
    registry.command("check", lambda ctx, arguments: answer())
"""
HELPER = "def answer():\n    return 1\n"


def _write(root: Path, code: str, helper: str = HELPER) -> None:
    root.mkdir(parents=True, exist_ok=True)
    (root / "__init__.py").write_text("")
    (root / "code.py").write_text(textwrap.dedent(code))
    (root / "helper.py").write_text(helper)


def _plugin(root: Path, name: str = "lore", *, package: str | None = None, module: str | None = "code") -> Plugin:
    manifest = PluginManifest(name, "1.0", 1, module=module, contributes={"commands": ({"id": "check"},)}, root=root)
    return Plugin(name, State.ENABLED, "", Found((name,), Origin.FOLDER, str(root), root, package), manifest)


def test_the_code_a_host_asks_for_is_the_code_the_points_tell_of() -> None:
    assert dict(NAMED_BY) == {it.name: it.named_by for it in POINTS.values() if it.code}


@pytest.fixture
def loader() -> Loader:
    return Loader(Guard(Deadlines(load=30.0)))


def _ours() -> list[str]:
    return [name for name in sys.modules if name.startswith(("talekeeper_folder_lore", "lore_package"))]


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin of these names that another test has loaded is none of ours."""
    for name in _ours():
        monkeypatch.delitem(sys.modules, name)


def test_loading_gives_the_registered_functions(loader: Loader, tmp_path: Path) -> None:
    _write(tmp_path / "lore", GOOD)
    plugin = _plugin(tmp_path / "lore")

    functions = loader.functions(plugin)

    assert functions["commands", "check"](None, {}) == 1
    assert loader.loaded("lore")
    loader.unload(plugin)
    assert not _ours()


def test_a_projects_package_is_loaded_under_its_own_name(loader: Loader, tmp_path: Path) -> None:
    _write(tmp_path / "lore_package", GOOD.replace("from .helper", "from lore_package.helper"))
    plugin = _plugin(tmp_path / "lore_package", package="lore_package")

    functions = loader.functions(plugin)

    assert functions["commands", "check"](None, {}) == 1
    loader.unload(plugin)


def test_a_package_name_that_belongs_to_something_else_is_refused(loader: Loader, tmp_path: Path) -> None:
    _write(tmp_path / "json", GOOD)

    with pytest.raises(PluginError, match="importing code"):
        loader.functions(_plugin(tmp_path / "json", package="json"))

    assert sys.modules["json"].__name__ == "json"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        pytest.param("import talekeeper_no_such_thing", "raised ModuleNotFoundError", id="imports what is not there"),
        pytest.param(
            "from .helper import answer\n1 / 0", "importing code raised ZeroDivisionError", id="raises at import"
        ),
        pytest.param("import sys\nsys.exit()", "importing code raised SystemExit", id="exits at import"),
        pytest.param("def broken(", "importing code raised SyntaxError", id="syntax"),
        pytest.param(
            GOOD + "    raise ValueError('x')", "talekeeper_register raised ValueError: x", id="raises at register"
        ),
        pytest.param("answer = 1", "no function talekeeper_register under @hookimpl", id="no hook"),
        pytest.param(
            GOOD.replace("@hookimpl", ""), "no function talekeeper_register under @hookimpl", id="unmarked hook"
        ),
        pytest.param(
            GOOD.replace("talekeeper_register", "talekeeper_regsiter"),
            "on talekeeper_regsiter: the only hook",
            id="typo",
        ),
        pytest.param(GOOD.replace("(registry)", "(registry, host)"), "PluginValidationError", id="wrong arguments"),
        pytest.param(GOOD.replace("def tale", "async def tale"), "gives back coroutine", id="async hook"),
        pytest.param(
            GOOD.replace('"check"', '"chekc"'), "command 'chekc', plugin.toml does not declare", id="undeclared"
        ),
        pytest.param(GOOD + "    registry.check = 3\n    registry.shape('x')", "AttributeError", id="no such point"),
    ],
)
def test_any_failure_is_told_and_undone(loader: Loader, tmp_path: Path, code: str, told: str) -> None:
    _write(tmp_path / "lore", code)
    _write(tmp_path / "other", GOOD)

    with pytest.raises(PluginError, match="lore") as caught:
        loader.functions(_plugin(tmp_path / "lore"))

    assert told in str(caught.value)
    assert not loader.loaded("lore")
    assert not _ours()
    assert loader.functions(_plugin(tmp_path / "other", "other"))["commands", "check"](None, {}) == 1


def test_code_that_never_ends_at_import_is_given_up(tmp_path: Path) -> None:
    _write(tmp_path / "sleeper", "import threading\nthreading.Event().wait()")

    with pytest.raises(PluginError, match=r"importing code took longer than its 0.1 s"):
        Loader(Guard(Deadlines(load=0.1))).functions(_plugin(tmp_path / "sleeper", "sleeper"))

    assert not [name for name in sys.modules if name.startswith("talekeeper_folder_sleeper")]


def test_a_plugin_that_failed_loads_once_it_is_mended(loader: Loader, tmp_path: Path) -> None:
    _write(tmp_path / "lore", GOOD, helper="def answer():\n    return x x\n")
    plugin = _plugin(tmp_path / "lore")
    with pytest.raises(PluginError):
        loader.functions(plugin)

    _write(tmp_path / "lore", GOOD, helper="def answer():\n    return 2 \n")

    assert loader.functions(plugin)["commands", "check"](None, {}) == 2
    loader.unload(plugin)


def test_after_a_reload_only_the_new_code_is_served(loader: Loader, tmp_path: Path) -> None:
    _write(tmp_path / "lore", GOOD)
    plugin = _plugin(tmp_path / "lore")
    loader.functions(plugin)

    for number in range(2, 5):
        loader.unload(plugin)
        _write(tmp_path / "lore", GOOD, helper=HELPER.replace("1", str(number)))
        assert loader.functions(plugin)["commands", "check"](None, {}) == number

    assert not list(tmp_path.rglob("*.pyc"))
    loader.unload(plugin)


def test_a_failed_reload_leaves_other_plugins_as_they_are(loader: Loader, tmp_path: Path) -> None:
    _write(tmp_path / "lore", GOOD)
    _write(tmp_path / "other", GOOD)
    plugin, other = _plugin(tmp_path / "lore"), _plugin(tmp_path / "other", "other")
    loader.functions(plugin)
    before: Any = loader.functions(other)

    loader.unload(plugin)
    _write(tmp_path / "lore", "1 / 0")
    with pytest.raises(PluginError):
        loader.functions(plugin)

    assert loader.functions(other) is before


def test_a_plugin_without_code_loads_without_importing(loader: Loader, tmp_path: Path) -> None:
    plugin = Plugin(
        "lore",
        State.ENABLED,
        "",
        Found(("lore",), Origin.FOLDER, "", tmp_path),
        PluginManifest("lore", "1", 1, root=tmp_path),
    )

    assert loader.functions(plugin) == {}


def test_functions_declared_without_a_module_are_told(loader: Loader, tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="command 'check', the code does not register it; name the module"):
        loader.functions(_plugin(tmp_path, module=None))

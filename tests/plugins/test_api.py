"""What plugin authors import: listed, documented, and nothing of it leads to the store."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from talekeeper import api
from talekeeper.errors import TalekeeperError

_ALIASES = {"Authority", "Called", "Covers", "Importer", "Job", "Json", "Migration", "Order", "Prompt", "Scope"}
_VALUES = {"ROOT", "hookimpl"}
_FACE = {"TYPE_CHECKING", "lazy_face"}  # what a face is made with
_CLASSES = sorted(set(api.__all__) - _ALIASES - _VALUES)


def test_all_is_sorted_complete_and_there() -> None:
    offered = [name for name in api.__all__ if hasattr(api, name)]
    public = {name for name, value in vars(api).items() if not name.startswith("_") and not _is_module(value)}

    assert sorted(offered) == sorted(set(api.__all__))
    assert public - _FACE == set(offered)


@pytest.mark.parametrize("name", _CLASSES)
def test_every_public_class_and_its_methods_are_documented(name: str) -> None:
    cls: type = getattr(api, name)
    members: dict[str, Any] = dict(vars(cls))

    bare = [
        method
        for method, value in members.items()
        if not method.startswith("_") and (callable(value) or isinstance(value, property)) and not value.__doc__
    ]

    assert cls.__doc__
    assert not bare


@pytest.mark.parametrize("name", [name for name in _CLASSES if dataclasses.is_dataclass(getattr(api, name))])
def test_what_crosses_the_border_is_frozen(name: str) -> None:
    assert getattr(api, name).__dataclass_params__.frozen


@pytest.mark.parametrize("name", [name for name in _CLASSES if isinstance(getattr(api, name), type)])
def test_an_exported_error_is_one_of_the_tree(name: str) -> None:
    cls = getattr(api, name)

    assert not issubclass(cls, BaseException) or issubclass(cls, TalekeeperError)


def test_importing_the_api_loads_no_plugin_and_no_manifest_library() -> None:
    unwanted = ("talekeeper_memory", "jsonschema_rs", "httpx")
    code = f"import sys, talekeeper.api; print([name for name in {unwanted} if name in sys.modules])"
    kernel = Path(api.__file__).parents[2]

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(kernel)}
    )

    assert done.stdout.strip() == "[]"


def _is_module(value: object) -> bool:
    return isinstance(value, type(sys))

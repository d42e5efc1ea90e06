from __future__ import annotations

from pathlib import Path

import pytest
from talekeeper.plugins.resolver import read_overrides


@pytest.mark.parametrize(
    ("environment", "without", "off"),
    [
        pytest.param({}, None, set[str](), id="nothing said"),
        pytest.param({}, "", {"a", "b"}, id="--no-plugins"),
        pytest.param({}, "a", {"a"}, id="--no-plugins=a"),
        pytest.param({}, " a , ,b ", {"a", "b"}, id="--no-plugins with blanks"),
        pytest.param({"TALEKEEPER_PLUGINS": ""}, None, {"a", "b"}, id="variable empty"),
        pytest.param({"TALEKEEPER_PLUGINS": "b"}, None, {"a"}, id="variable names b"),
        pytest.param({"TALEKEEPER_PLUGINS": "a"}, "a", {"a", "b"}, id="both"),
    ],
)
def test_which_plugins_stay_off(environment: dict[str, str], without: str | None, off: set[str]) -> None:
    chosen = read_overrides(environment, without=without)

    assert {plugin for plugin in ("a", "b") if chosen.off(plugin)} == off


@pytest.mark.parametrize(("value", "strict"), [("1", True), ("yes", True), ("0", False), ("", False), (None, False)])
def test_strict_is_asked_for_by_a_variable(value: str | None, strict: bool) -> None:
    environment = {} if value is None else {"TALEKEEPER_STRICT": value}

    assert read_overrides(environment).strict is strict


def test_folders_and_paths_are_kept() -> None:
    chosen = read_overrides({}, folders=[Path("a")], paths=[Path("b")])

    assert (chosen.folders, chosen.paths) == ((Path("a"),), (Path("b"),))

"""A script whose optional packages are missing says so in a sentence that helps."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

EXTRA = re.compile(r'\brequire\(\s*"(\w+)"')


def test_what_is_not_installed_is_named_with_its_extra(root: Path) -> None:
    require = runpy.run_path(str(root / "scripts" / "extras.py"))["require"]

    with pytest.raises(SystemExit) as ended:
        require("bench", ["json", "engine_of_nobody"])

    assert ended.value.code == "not installed here: engine_of_nobody; run: pip install -e '.[bench]'"


def test_what_is_installed_is_passed_over(root: Path) -> None:
    require = runpy.run_path(str(root / "scripts" / "extras.py"))["require"]

    assert require("bench", ["json"]) is None


def test_the_extras_that_scripts_name_are_there(root: Path, pyproject: dict[str, Any]) -> None:
    scripts = (root / "scripts").glob("*.py")

    named = {extra for script in scripts for extra in EXTRA.findall(script.read_text("utf-8"))}

    assert named
    assert named <= set(pyproject["project"]["optional-dependencies"])

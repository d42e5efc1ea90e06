"""What a project folder's pyproject.toml announces, whatever is in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from talekeeper.manifest import FILE_NAME as MANIFEST
from talekeeper.plugins.discovery import project

ANNOUNCED = '[project.entry-points."talekeeper.plugins"]\nlore = "lore_package"\n'


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(ANNOUNCED, "lore", id="announced"),
        pytest.param('[tool.poetry.plugins."talekeeper.plugins"]\nlore = "lore_package"\n', "lore", id="by poetry"),
        pytest.param(f"deep = {'[' * 5_000}{']' * 5_000}\n", "folder", id="nested too deeply"),
        pytest.param("project = [", "folder", id="cut off"),
        pytest.param(ANNOUNCED.replace('"lore_package"', "7"), "folder", id="not a package's name"),
    ],
)
def test_the_package_is_found_whatever_the_project_file_holds(tmp_path: Path, text: str, name: str) -> None:
    package = tmp_path / "folder" / "lore_package"
    package.mkdir(parents=True)
    (package / MANIFEST).touch()
    (tmp_path / "folder" / "pyproject.toml").write_text(text, encoding="utf-8")

    found = project(tmp_path / "folder")

    assert found is not None
    assert (found.names[0], found.package, found.root) == (name, "lore_package", package)

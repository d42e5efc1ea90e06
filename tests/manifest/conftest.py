"""What the tests of manifests share: the fixture folders, and a plugin written into a temporary folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pytest
from talekeeper.manifest.loader import Checked, check_file

HERE = Path(__file__).parent

RECORD_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["body"],
    "properties": {
        "body": {"type": "string"},
        "title": {"type": ["string", "null"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "pages": {"type": "integer"},
        "hidden": {"type": "boolean"},
    },
}
HEAD = """\
[plugin]
id = "lore"
version = "0.1.0"
api = 1
summary = "Lore of the northern coast."
"""
DATA = """
[contributes.data.entries]
schema = "entries.schema.json"
search = { text = "body" }
"""


class Written(Protocol):
    """Writes `plugin.toml` into a folder that has a record schema and a module, and checks it."""

    def __call__(self, text: str | bytes, **files: str | dict[str, Any]) -> Checked: ...


@pytest.fixture
def head() -> str:
    """A sound `[plugin]` table of five lines."""
    return HEAD


@pytest.fixture
def data() -> str:
    """A sound namespace, to follow `head`: its header stands in line 7."""
    return DATA


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A plugin folder called `lore` with a record schema and a module, and no manifest yet."""
    root = tmp_path / "lore"
    root.mkdir()
    (root / "entries.schema.json").write_text(json.dumps(RECORD_SCHEMA), encoding="utf-8")
    (root / "code.py").write_text("", encoding="utf-8")
    return root


@pytest.fixture
def check(folder: Path) -> Written:
    """Checks a text as the manifest of `folder`; keywords are more files, `_` in their names standing for `.`."""

    def written(text: str | bytes, **files: str | dict[str, Any]) -> Checked:
        for name, content in files.items():
            file = content if isinstance(content, str) else json.dumps(content)
            (folder / name.replace("_", ".")).write_text(file, encoding="utf-8")
        manifest = folder / "plugin.toml"
        manifest.write_bytes(text if isinstance(text, bytes) else text.encode())
        return check_file(manifest, shown="plugin.toml")

    return written


@pytest.fixture
def found(check: Written) -> Callable[..., list[str]]:
    """As `check`, giving `line:column code message` for each diagnostic."""

    def described(text: str | bytes, **files: str | dict[str, Any]) -> list[str]:
        return [f"{it.line}:{it.column} {it.code} {it.message}" for it in check(text, **files).diagnostics]

    return described


@pytest.fixture(scope="session")
def good() -> list[Path]:
    """The manifests that hold, in folders of their own."""
    return sorted((HERE / "good").glob("*/plugin.toml"))


@pytest.fixture
def bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Makes the fixture of a code ready to be validated, relative to the folder that becomes the current one."""

    def ready(code: str) -> Path:
        place = tmp_path / "bad"
        place.mkdir()
        for it in (HERE / "bad").iterdir():
            if it.is_file() and (it.stem == code or not it.name.startswith("TK")):
                shutil.copy(it, place)
        monkeypatch.chdir(place)
        folder = HERE / "bad" / code
        if not folder.is_dir():
            return Path(f"{code}.toml")
        if list(folder.glob("*.dist-info")):
            return Path(zipped(folder, place).name)
        shutil.copytree(folder, place / "project")
        return Path("project")

    return ready


def zipped(folder: Path, place: Path) -> Path:
    """A folder with a `.dist-info` as the wheel it would be."""
    info = min(folder.glob("*.dist-info"))
    wheel = place / f"{info.name.removesuffix('.dist-info')}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in sorted(it for it in folder.rglob("*") if it.is_file()):
            archive.write(file, file.relative_to(folder).as_posix())
        for name in ("RECORD", "WHEEL"):
            if not (info / name).exists():
                archive.writestr(f"{info.name}/{name}", "")
    return wheel


@pytest.fixture
def wheel_of(tmp_path: Path) -> Callable[[Path], Path]:
    """Makes a wheel of a folder that has a `.dist-info`."""
    return lambda folder: zipped(folder, tmp_path)


class Run(Protocol):
    """Runs `validate-plugin` in a process of its own."""

    def __call__(self, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]: ...


@pytest.fixture(scope="session")
def validate() -> Run:
    """The real command, in the current folder."""
    program = [sys.executable, "-c", "from talekeeper.cli.commands.validate_plugin import main; main()"]

    def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*program, *map(str, arguments)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            env={**os.environ, "PYTHONUTF8": "1", **environment},
        )

    return run

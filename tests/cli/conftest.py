"""The command line run in this process against a home of the test's own, with one plugin written to disk."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from talekeeper.cli import app
from talekeeper.home import Home

MANIFEST = """
[plugin]
id = "lorebook"
version = "1.2.0"
api = 1
summary = "Searchable lore."
module = "code"

[contributes.data.entries]
version = 1
schema = "entry.schema.json"
search = { text = "body", title = "name" }

[contributes.data.rules]
version = 1
schema = "entry.schema.json"
scope = "workspace"

[[contributes.commands]]
id = "count"
parameters = "count.schema.json"

[[contributes.commands]]
id = "fail"

[[contributes.importers]]
id = "lines"
match = ["*.lore"]
"""

SCHEMA = {
    "type": "object",
    "description": "One piece of lore.",
    "properties": {
        "name": {"type": "string", "description": "What it is called."},
        "body": {"type": "string", "minLength": 1},
        "kind": {"enum": ["person", "place"], "default": "place"},
        "weight": {"type": "integer"},
        "share": {"type": "number"},
        "secret": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "more": {"type": "object"},
    },
    "required": ["body"],
    "additionalProperties": False,
}

COUNT = {
    "type": "object",
    "description": "Count the entries.",
    "properties": {"times": {"type": "integer", "minimum": 1}},
    "additionalProperties": False,
}

CODE = """
from talekeeper.api import Record, UserError, hookimpl

@hookimpl
def talekeeper_register(registry):
    registry.command("count", count)
    registry.command("fail", fail)
    registry.importer("lines", lines)

def count(ctx, arguments):
    return {"entries": ctx.data["entries"].count() * arguments.get("times", 1)}

def fail(ctx, arguments):
    raise UserError("it is not to be")

def lines(ctx, file, report):
    for text in file.read().decode().splitlines():
        name, _, body = text.partition("=")
        if body:
            yield Record("entries", name, {"name": name, "body": body})
        else:
            report.skipped(name, "it says nothing")
"""

CHAT = [
    ("Mira", "It is raining over the harbour."),
    ("user", "I ask the ferryman about the brass key."),
    ("Mira", "The ferryman lost the brass key under the old bridge."),
    ("user", "I walk to the old bridge."),
    ("Mira", "Nothing but eels there."),
]


@dataclass(frozen=True)
class Outcome:
    """What one command line gave."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its output as JSON."""
        return json.loads(self.out)


Run = Callable[..., Outcome]


@pytest.fixture(scope="session")
def plugin_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plugin `lorebook`."""
    folder = tmp_path_factory.mktemp("plugins") / "lorebook"
    folder.mkdir()
    (folder / "plugin.toml").write_text(MANIFEST)
    (folder / "entry.schema.json").write_text(json.dumps(SCHEMA))
    (folder / "count.schema.json").write_text(json.dumps(COUNT))
    (folder / "code.py").write_text(textwrap.dedent(CODE))
    return folder


@pytest.fixture(scope="session")
def empty_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home just made; each test works on a copy."""
    folder = tmp_path_factory.mktemp("home")
    with Home.open(folder):
        pass
    return folder


@pytest.fixture
def home(tmp_path: Path, empty_home: Path) -> Path:
    """The home that `tk` works on."""
    folder = tmp_path / "home"
    shutil.copytree(empty_home, folder)
    return folder


@pytest.fixture
def tk(
    home: Path,
    plugin_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """Runs a command line in `tmp_path`."""
    monkeypatch.setenv("TALEKEEPER_HOME", str(home))
    monkeypatch.setenv("TALEKEEPER_PLUGINS", "lorebook")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str | Path) -> Outcome:
        capsys.readouterr()
        code = app.run(["--plugin", str(plugin_folder), *map(str, arguments)])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """A short conversation in our own lines."""
    file = tmp_path / "chat.jsonl"
    rows = [{"id": f"m{n}", "session": "harbour", "speaker": who, "text": text} for n, (who, text) in enumerate(CHAT)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


@pytest.fixture
def told(tk: Run, chat: Path) -> Run:
    """`tk` with that conversation imported."""
    assert tk("import", chat).code == 0
    return tk

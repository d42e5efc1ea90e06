"""A TOML language server with the published schema and no network: it takes what holds and marks what does not."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tomli
from pydantic import ValidationError
from talekeeper.manifest.model.manifest import model

HERE = Path(__file__).parent
SCHEMA = HERE.parent.parent / "schema" / "v1" / "plugin.schema.json"
TOMBI = shutil.which("tombi", path=str(Path(sys.executable).parent)) or shutil.which("tombi")
UNSEEN = {"TK002", "TK004", "TK005", "TK006", "TK007"}

pytestmark = pytest.mark.skipif(TOMBI is None, reason="tombi is in the dev extra")
Lint = Callable[[str], list[dict[str, Any]]]


@pytest.fixture
def lint(tmp_path: Path) -> Lint:
    """What tombi says of a manifest whose first line names the schema by a relative path."""

    def linted(text: str) -> list[dict[str, Any]]:
        shutil.copy(SCHEMA, tmp_path)
        (tmp_path / "plugin.toml").write_text(f"#:schema ./{SCHEMA.name}\n{text}", encoding="utf-8", newline="")
        arguments = [
            "lint",
            "--offline",
            "--diagnostics-format",
            "json",
            "--diagnostics-file",
            "told.json",
            "plugin.toml",
        ]
        subprocess.run([str(TOMBI), *arguments], cwd=tmp_path, capture_output=True, check=False, timeout=60)
        told: list[dict[str, Any]] = json.loads((tmp_path / "told.json").read_text(encoding="utf-8"))
        return told

    return linted


def _manifests(pattern: str) -> list[Path]:
    return [it for it in sorted(HERE.glob(pattern)) if it.stem not in UNSEEN]


@pytest.mark.parametrize(
    "path", _manifests("good/*/plugin.toml") + _manifests("bad/*.toml"), ids=lambda it: str(it.relative_to(HERE))
)
def test_an_editor_marks_a_manifest_when_the_model_refuses_it(lint: Lint, path: Path) -> None:
    text = path.read_bytes().decode()
    try:
        model().model_validate(tomli.loads(text))
        holds = True
    except ValidationError:
        holds = False

    told = lint(text)

    assert [it["message"] for it in told if it["level"] == "error"] == [] or not holds
    assert told or holds


def test_an_editor_points_where_the_validator_points(lint: Lint, head: str) -> None:
    told = lint(head + '[contributes.data.entries]\nschema = "e.json"\nscope = "sesion"\nsearch = { txt = "body" }\n')

    starts = {(it["range"]["start"]["line"] - 1, it["range"]["start"]["column"]) for it in told}
    assert {(8, 9), (9, 12)} <= starts

"""The shell completes what there is in the home, and asking for it makes none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.shell_completion import ShellComplete
from talekeeper.cli.app import cli

Run = Callable[..., Any]
BLANKS = "望乡石 at noon"


def proposed(*words: str | Path, incomplete: str = "") -> list[str]:
    complete = ShellComplete(cli, {}, "talekeeper", "_TALEKEEPER_COMPLETE")
    return [item.value for item in complete.get_completions(list(map(str, words)), incomplete)]


@pytest.mark.parametrize(
    ("words", "incomplete", "expected"),
    [
        pytest.param(["sessions", "show"], "", [BLANKS, "harbour"], id="a-session"),
        pytest.param(["search", "-s"], "h", ["harbour"], id="a-session-of-an-option"),
        pytest.param(["import", "--session"], "h", ["harbour"], id="a-session-to-import-into"),
        pytest.param(["-w", "nowhere", "sessions", "show"], "", [], id="of-the-workspace-named"),
        pytest.param(["export"], "x", [], id="none-that-begins-so"),
        pytest.param(["status", "-w"], "", ["default"], id="a-workspace"),
        pytest.param(["workspaces", "rename"], "d", ["default"], id="a-workspace-by-place"),
        pytest.param(["plugins", "explain"], "lo", ["lorebook"], id="a-plugin"),
        pytest.param(["data", "list"], "lorebook/e", ["lorebook/entries"], id="a-namespace"),
        pytest.param(["data", "add"], "lorebook/e", ["lorebook/entries"], id="a-namespace-before-its-properties"),
        pytest.param(["data", "add", "lorebook/entries"], "", [], id="no-namespace-after-one"),
        pytest.param(["run"], "lorebook/c", ["lorebook/count"], id="a-command-of-a-plugin"),
    ],
)
def test_what_is_there_is_proposed(
    told: Run, plugin_folder: Path, words: list[str], incomplete: str, expected: list[str]
) -> None:
    told("sessions", "new", BLANKS)

    found = proposed("--plugin", plugin_folder, *words, incomplete=incomplete)

    assert found == expected


def test_where_there_is_no_home_nothing_is_proposed_and_none_is_made(tmp_path: Path) -> None:
    found = proposed("--home", tmp_path / "none", "sessions", "show")

    assert found == []
    assert not (tmp_path / "none").exists()


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_a_name_with_blanks_as_one_word(told: Run, home: Path, tmp_path: Path) -> None:
    told("sessions", "new", BLANKS)
    program = tmp_path / "talekeeper"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -c "from talekeeper.cli import main; main()" "$@"\n')
    program.chmod(0o700)
    asking = (
        'eval "$(talekeeper completion bash)"; COMP_WORDS=(talekeeper sessions show 望); COMP_CWORD=3; '
        '_talekeeper_completion talekeeper; echo "${#COMPREPLY[@]} ${COMPREPLY[0]}"'
    )

    done = subprocess.run(
        ["bash", "--norc", "-c", asking],
        env={
            **os.environ,
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
            "TALEKEEPER_HOME": str(home),
            "LC_ALL": "C.UTF-8",
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stdout, done.stderr) == (f"1 {BLANKS.replace(' ', chr(92) + ' ')}\n", "")

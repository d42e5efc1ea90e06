"""The process and its streams: closed, broken, full; Ctrl-C; and plugins that print."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
MAIN = "import talekeeper.cli as c; c.main()"
COMMAND = f'"{sys.executable}" -c "{MAIN}"'

MANIFEST = """
[plugin]
id = "{id}"
version = "1.0.0"
api = 1
summary = "Prints."
module = "code"

[[contributes.commands]]
id = "chat"

[[contributes.commands]]
id = "break"
"""
CODE = """
from talekeeper.api import hookimpl
print("while importing")

@hookimpl
def talekeeper_register(registry):
    print("while registering")
    registry.command("chat", chat)
    registry.command("break", breaks)

def chat(ctx, arguments):
    print("while running")
    return {"said": True}

def breaks(ctx, arguments):
    raise ValueError("feathers")
"""


def shell(line: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Runs `tk …` in a shell; what it prints as `code=` is its exit code."""
    script = f'tk() {{ {COMMAND} "$@"; }}\n{line}\necho code=$? >&9'
    environment = {**os.environ, "TALEKEEPER_HOME": str(home), "TALEKEEPER_PLUGINS": ""}
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"exec 9>&1; {script}"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("line", "code"),
    [
        pytest.param("tk sessions list >&-", 0, id="stdout closed"),
        pytest.param("tk sessions show harbour >&- 2>&- <&-", 0, id="all closed"),
        pytest.param("tk search eels 2>&-", 0, id="stderr closed"),
        pytest.param("tk sessions show nobody >&- 2>&-", 1, id="a fault with nobody to tell"),
        pytest.param("tk sessions delete harbour <&-", 1, id="a question with nobody to ask"),
        pytest.param("tk sessions show harbour --all | exec true", 1, id="the reader has gone"),
        pytest.param("tk search eels 2> >(exec true)", 0, id="the reader of remarks has gone"),
    ],
)
def test_whatever_became_of_a_stream_the_exit_code_tells(told: Run, home: Path, line: str, code: int) -> None:
    done = shell(line, home)

    assert f"code={code}\n" in done.stdout
    assert "Traceback" not in done.stderr
    assert "bug" not in done.stderr
    assert told("doctor").code == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk that is always full")
@pytest.mark.parametrize(("line", "code"), [("tk export > /dev/full", 2), ("tk search eels 2> /dev/full", 0)])
def test_a_full_disk_is_one_sentence(told: Run, home: Path, line: str, code: int) -> None:
    done = shell(line, home)

    assert f"code={code}\n" in done.stdout
    sentence = "talekeeper: what is printed: no space left on device; make room there and try again\n"
    assert done.stderr == ("" if code == 0 else sentence)


@pytest.mark.parametrize("module", ["talekeeper.cli.app", "click", "talekeeper.cli.commands.search", "talekeeper.home"])
def test_ctrl_c_while_modules_load_ends_with_130_and_no_traceback(tmp_path: Path, module: str) -> None:
    """The interrupt comes exactly when `module` is looked for."""
    code = f"""
import os, signal, sys
class Interrupting:
    def find_spec(self, name, *_):
        if name == {module!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
sys.argv[1:] = ["search", "key", "--home", {str(tmp_path / "home")!r}]
{MAIN}
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 128 + signal.SIGINT
    assert done.stdout == ""
    assert done.stderr.strip() in {"", "talekeeper: interrupted; finished work is kept"}


@pytest.fixture
def parrot(tmp_path: Path) -> Path:
    """A plugin that prints wherever it can, one command of which fails. Its name is new, for it to be imported anew."""
    folder = tmp_path / f"parrot-{secrets.token_hex(4)}"
    folder.mkdir()
    (folder / "plugin.toml").write_text(MANIFEST.format(id=folder.name))
    (folder / "code.py").write_text(CODE)
    return folder


@pytest.fixture
def with_parrot(told: Run, parrot: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`tk` with that plugin in the session."""
    monkeypatch.setenv("TALEKEEPER_PLUGINS", parrot.name)

    def run(*arguments: str) -> Any:
        return told("--plugin", parrot, *arguments)

    assert run("sessions", "plugins", "harbour", f"+{parrot.name}").code == 0
    return run


def test_what_a_plugin_prints_goes_to_stderr(with_parrot: Run, parrot: Path) -> None:
    outcome = with_parrot("run", f"{parrot.name}/chat", "--json")

    assert json.loads(outcome.out) == {"said": True}
    assert outcome.err.split("\n")[:3] == ["while importing", "while registering", "while running"]


def test_a_plugins_fault_is_told_once(with_parrot: Run, parrot: Path) -> None:
    outcome = with_parrot("run", f"{parrot.name}/break")

    assert outcome.code == 1
    assert outcome.err.count("feathers") == 1

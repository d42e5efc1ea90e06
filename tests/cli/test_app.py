"""The command line as a shell sees it: start-up, help, exit codes, one sentence a fault."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from talekeeper.cli import app
from talekeeper.cli.app import COMMANDS
from talekeeper.cli.options import Common, common
from talekeeper.errors import ImportFileError, StoreUnusable

HEAVY = {"numpy", "jsonschema_rs", "pydantic", "httpx", "Stemmer", "sqlite3"}
MAIN = "import talekeeper.cli as c; c.main()"

RunFault = Callable[[BaseException], int]


def give(monkeypatch: pytest.MonkeyPatch, command: click.Command) -> None:
    """Makes every name a name of `command`."""

    def get_command(*_: object) -> click.Command:
        return command

    monkeypatch.setattr(app.LazyGroup, "get_command", get_command)


@pytest.fixture
def run_fault(monkeypatch: pytest.MonkeyPatch) -> RunFault:
    """Runs a command that raises."""

    def run(fault: BaseException) -> int:
        @click.command()
        def command() -> None:
            raise fault

        give(monkeypatch, command)
        return app.run(["anything"])

    return run


def test_help_imports_nothing_heavy() -> None:
    code = f"import sys; sys.argv[1:] = ['--help']\ntry: {MAIN}\nfinally: print(*sys.modules, file=sys.stderr)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "Commands:" in done.stdout
    assert HEAVY.isdisjoint(done.stderr.split())
    assert not {entry.target.partition(":")[0] for entry in COMMANDS.values()} & set(done.stderr.split())


def test_help_lists_every_command_with_its_summary() -> None:
    text = CliRunner().invoke(app.cli, ["--help"]).output

    for name, entry in COMMANDS.items():
        assert f"  {name} " in text
        assert entry.summary in text


@pytest.mark.parametrize(
    ("fault", "code", "sentence"),
    [
        pytest.param(ImportFileError("a.txt", 5, "not UTF-8"), 1, "talekeeper: a.txt:5: not UTF-8\n", id="input"),
        pytest.param(StoreUnusable("the disk is full"), 2, "talekeeper: the disk is full\n", id="store"),
        pytest.param(PermissionError(13, "Permission denied", "/x"), 2, "talekeeper: /x: permission denied\n", id="os"),
        pytest.param(KeyboardInterrupt(), 130, "\ntalekeeper: interrupted; finished work is kept\n", id="ctrl-c"),
        pytest.param(ValueError("odd"), 2, "talekeeper: unexpected ValueError: odd; this is a bug,", id="bug"),
        pytest.param(click.UsageError("no such thing"), 2, "Usage: ", id="usage"),
    ],
)
def test_a_fault_is_one_sentence_and_an_exit_code(
    run_fault: RunFault, capsys: pytest.CaptureFixture[str], fault: BaseException, code: int, sentence: str
) -> None:
    result = run_fault(fault)

    captured = capsys.readouterr()
    assert result == code
    assert captured.err.startswith(sentence)
    assert "Traceback" not in captured.err + captured.out


@pytest.mark.parametrize("arguments", [("sessions", "show", "x", "--json"), ("--json", "search", "--limit", "many")])
def test_with_json_a_fault_is_an_object_on_stdout_too(
    arguments: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = app.run(["--home", str(tmp_path), *arguments])

    captured = capsys.readouterr()
    error = json.loads(captured.out)["error"]
    assert error.keys() == {"kind", "message", "what", "where", "cure", "exit_code"}
    assert (error["exit_code"], error["kind"]) in {(code, "NotFound"), (code, "BadParameter")}
    assert error["message"] in captured.err


def nameable(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Parameter]]:
    """Everything on the command line that is a word or a path, with the command it belongs to."""
    for param in command.params:
        if not isinstance(param.type, click.types.IntParamType | click.types.BoolParamType | click.Choice):
            yield path, param
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        for name in command.list_commands(ctx):
            inner = command.get_command(ctx, name)
            assert inner is not None
            yield from nameable(inner, (*path, name))


MAY_BE_EMPTY = {"title", "label", "text", "query", "wordings", "no_plugins", "rest", "targets"}


def test_no_name_on_the_command_line_may_be_empty(capsys: pytest.CaptureFixture[str]) -> None:
    taken: list[str] = []
    for path, param in nameable(app.cli):
        if param.name in MAY_BE_EMPTY or "validate-plugin" in path:
            continue
        with click.Context(app.cli) as ctx, pytest.raises(click.UsageError) as refused:
            param.type_cast_value(ctx, ("",) if param.multiple or param.nargs == -1 else "")
        taken += [] if "is empty" in str(refused.value) else [f"{path} {param.name}"]

    assert taken == []


@pytest.mark.parametrize("name", ["--home", "--workspace", "--plugin", "--plugins", "--session"])
def test_an_empty_name_is_refused_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TALEKEEPER_HOME", "home")

    code = app.run(["search", "key", name, ""])

    assert code == 2
    assert "it is empty" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


NOT_UTF8 = "not UTF-8: \udcff"
"""What Python makes of an argument with the byte FF."""


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", NOT_UTF8, "-s", "harbour"),
        ("search", "eels", "-s", NOT_UTF8),
        ("search", "eels", "-w", NOT_UTF8),
        ("search", "eels", "--source", NOT_UTF8),
        ("sessions", "show", NOT_UTF8),
        ("sessions", "edit", "harbour", NOT_UTF8, "--text", "x"),
        ("sessions", "edit", "harbour", "1", "--text", NOT_UTF8),
        ("sessions", "fork", "harbour", "--name", NOT_UTF8),
        ("sessions", "rename", "harbour", NOT_UTF8),
        ("sessions", "new", NOT_UTF8),
        ("sessions", "plugins", "harbour", f"+{NOT_UTF8}"),
        ("workspaces", "delete", NOT_UTF8, "--yes"),
        ("data", "show", "memory/facts", NOT_UTF8),
        ("data", "edit", "memory/facts", NOT_UTF8, "--text", "x"),
        ("data", "forget", "memory/facts", NOT_UTF8, "--yes"),
        ("data", "add", "memory/facts", "--text", NOT_UTF8),
        ("data", "list", NOT_UTF8),
        ("run", f"lorebook/{NOT_UTF8}"),
        ("plugins", "disable", NOT_UTF8),
        ("plugins", "explain", NOT_UTF8),
        ("jobs", "retry", "harbour", NOT_UTF8),
        ("jobs", "list", NOT_UTF8),
    ],
)
def test_an_argument_that_is_not_utf8_is_no_bug(told: Callable[..., Any], arguments: tuple[str, ...]) -> None:
    outcome = told(*arguments, "--json")

    assert outcome.code in {0, 1, 2}
    assert isinstance(outcome.json, dict)
    assert "this is a bug" not in outcome.err


def test_strict_mode_shows_where_a_bug_is(run_fault: RunFault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TALEKEEPER_STRICT", "1")

    with pytest.raises(ValueError, match="odd"):
        run_fault(ValueError("odd"))


def test_a_mistyped_command_is_told_its_likely_name(capsys: pytest.CaptureFixture[str]) -> None:
    code = app.run(["sessiosn"])

    assert code == 2
    assert "Did you mean 'sessions'?" in capsys.readouterr().err


def test_a_reader_that_goes_away_ends_the_command_quietly() -> None:
    code = f"import sys; sys.argv[1:] = ['completion', 'bash']; {MAIN}"
    read_end, write_end = os.pipe()
    os.close(read_end)

    done = subprocess.run(
        [sys.executable, "-c", code], stdout=write_end, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(write_end)

    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_the_program(shell: str) -> None:
    result = CliRunner().invoke(app.cli, ["completion", shell])

    assert result.exit_code == 0
    assert "_TALEKEEPER_COMPLETE" in result.output


def test_with_json_the_script_stands_in_a_document(capsys: pytest.CaptureFixture[str]) -> None:
    app.run(["completion", "bash"])
    script = capsys.readouterr().out

    app.run(["completion", "bash", "--json"])

    assert json.loads(capsys.readouterr().out) == {"shell": "bash", "script": script.removesuffix("\n")}


def test_options_stand_before_or_after_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, str, bool, str | None]] = []

    @click.command()
    @common
    def command(options: Common) -> None:
        seen.append((str(options.home), options.workspace, options.as_json, options.no_plugins))

    give(monkeypatch, command)
    before = app.run(["--home", "h", "--workspace", "w", "--json", "--no-plugins", "it"])
    after = app.run(["it", "--home", "h", "--workspace", "w", "--json", "--no-plugins"])
    both = app.run(["--home", "g", "--workspace", "w", "--json", "it", "--home", "h", "--no-plugins"])

    assert (before, after, both) == (0, 0, 0)
    assert seen == [("h", "w", True, "")] * 3

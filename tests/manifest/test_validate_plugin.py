"""The command: what it prints, what it returns, what it loads."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from talekeeper.cli import validate_plugin
from talekeeper.manifest.report import excerpt
from talekeeper.manifest.shape import published_text

ROOT = Path(__file__).parent.parent.parent
GOOD = Path(__file__).parent / "good"
Run = Callable[..., subprocess.CompletedProcess[str]]

BROKEN = """\
[plugin]
id = "lore"
version = "0.1.0"
api = 1
summary = "Lore."

[contributes.data.entries]
schema = "entries.schema.json"
search = { txt = "body" }
"""


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder above a plugin `lore` with one misspelt key, as the current folder."""
    (folder / "plugin.toml").write_text(BROKEN, encoding="utf-8")
    monkeypatch.chdir(folder.parent)
    return folder.parent


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(validate_plugin, arguments)
    return result.exit_code, result.output


def test_the_text_is_the_one_the_specification_shows(here: Path) -> None:
    code, output = run("lore/plugin.toml")

    assert code == 1
    assert output == (
        'lore/plugin.toml:9:12: TK221 unknown key "txt" in search\n'
        '   9 | search = { txt = "body" }\n'
        "     |            ^^^\n"
        '   = did you mean "text"?  It names the record property that memory-search indexes, or a list of them.\n'
        "   = explain: validate-plugin --explain TK221\n"
        "1 manifest: 1 error, 0 warnings\n"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "arguments", [["lore"], ["--print-schema"], ["--explain", "TK305"], ["--format", "json", "lore"]]
)
def test_a_full_disk_is_told_in_one_sentence(here: Path, arguments: list[str]) -> None:
    program = "from talekeeper.cli.commands.validate_plugin import main; main()"
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )

    assert done.returncode == 2
    assert done.stderr == "validate-plugin: what it has to say cannot be written: no space left on device\n"


def test_every_target_is_reported_though_an_earlier_one_fails(here: Path) -> None:
    code, output = run("nowhere", "lore", str(GOOD / "minimal"))

    assert code == 2
    assert "nowhere: TK001 there is no such file" in output
    assert "TK221" in output
    assert f"{GOOD / 'minimal' / 'plugin.toml'}: ok, minimal 1; memory-search reads notes.text" in output
    assert output.endswith("2 manifests: 2 errors, 0 warnings\n")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([str(GOOD)], 0),
        ([str(GOOD), "--strict"], 0),
        (["lore"], 1),
        (["warned"], 0),
        (["warned", "--strict"], 1),
        (["nowhere"], 2),
        (["nowhere", "lore"], 2),
        ([], 2),
        (["lore", "--api", "0"], 2),
        (["lore", "--api", "2"], 2),
        ([str(GOOD), "--api", "1"], 0),
        (["lore", "--format", "yaml"], 2),
        (["--explain", "TK221"], 0),
        (["--explain", "TK999"], 2),
        (["--print-schema"], 0),
    ],
    ids=str,
)
def test_the_exit_code_says_clean_findings_or_trouble(here: Path, arguments: list[str], code: int) -> None:
    shutil.copytree(GOOD / "minimal", here / "warned")

    manifest = here / "warned" / "plugin.toml"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace('"minimal"', '"warned"').replace("summary", "#"))

    assert run(*arguments)[0] == code


@pytest.mark.parametrize("switch", [["--format", "json"], ["--json"]], ids=["format", "switch"])
def test_json_is_one_document_with_every_diagnostic(here: Path, switch: list[str]) -> None:
    code, output = run("lore", "nowhere", *switch)

    document = json.loads(output)
    assert code == 2
    assert [it["unreadable"] for it in document["targets"]] == [False, True]
    assert document["targets"][0]["manifests"] == [
        {
            "file": "lore/plugin.toml",
            "id": "lore",
            "valid": False,
            "diagnostics": [
                {
                    "code": "TK221",
                    "severity": "error",
                    "file": "lore/plugin.toml",
                    "line": 9,
                    "column": 12,
                    "end_column": 15,
                    "pointer": "/contributes/data/entries/search/txt",
                    "message": 'unknown key "txt" in search',
                    "hint": 'did you mean "text"?  It names the record property that memory-search indexes, '
                    "or a list of them.",
                    "doc": "docs/reference/diagnostics.md#tk221",
                }
            ],
        }
    ]


def test_github_gets_workflow_commands_with_everything_escaped(here: Path) -> None:
    shutil.move(here / "lore", here / "100%, lore")
    manifest = here / "100%, lore" / "plugin.toml"
    manifest.write_text(BROKEN.replace("Lore.", "50 %\\nmore"), encoding="utf-8")

    _, output = run("100%, lore/plugin.toml", "--format", "github")

    lines = output.splitlines()
    assert lines[0].startswith("::error file=100%25%2C lore/plugin.toml,line=2,col=6,endColumn=12,title=TK408::id is ")
    assert lines[1].startswith("::error file=100%25%2C lore/plugin.toml,line=5,col=11,endColumn=23,title=TK207::")
    assert '"50 %25\\u000amore"' in lines[1]
    assert lines[2].endswith('::unknown key "txt" in search%0Adid you mean "text"?  It names the record property that '
                             "memory-search indexes, or a list of them.")  # fmt: skip


@pytest.mark.parametrize(
    ("line", "fault", "shown", "carets"),
    [
        ("a = 1", "1", "a = 1", "    ^"),
        ('"漢字" = 1', '"漢字"', '"漢字" = 1', "^^^^^^"),
        ('"漢字" = 1', "1", '"漢字" = 1', " " * 9 + "^"),
        ("\tx\t= 1", "1", " x = 1", " " * 5 + "^"),
        ("a\u0301 = 1", "1", "a\u0301 = 1", "    ^"),
        ("\u202e = 1", "1", "\\u202e = 1", " " * 9 + "^"),
        ("x" * 200 + "yes", "yes", "…" + "x" * 60 + "yes", " " * 61 + "^^^"),
        ("yes" + "x" * 200, "yes", "yes" + "x" * 107 + "…", "^^^"),
        ("x" * 300 + "y" * 200, "y" * 200, "…" + "x" * 60 + "y" * 50 + "…", " " * 61 + "^" * 50),
    ],
    ids=["plain", "wide", "after-wide", "tabs", "combining", "bidi", "late", "early", "too-long"],
)
def test_the_caret_stands_under_the_fault(line: str, fault: str, shown: str, carets: str) -> None:
    column = line.index(fault) + 1

    assert excerpt(line, column, column + len(fault)) == (shown, carets)


def test_a_hostile_manifest_cannot_act_on_the_terminal(check: Callable[..., object], folder: Path) -> None:
    check('[plugin]\nid = "a\\u001b[31m"\n"\\u202eevil" = 1\nversion = "\\u009b2J"\napi = 1\n# \u202e hidden\n')

    _, output = run(str(folder / "plugin.toml"))

    assert output.replace("\n", "").isprintable()


def test_explaining_a_code_needs_no_target_and_no_capitals() -> None:
    code, output = run("--explain", "tk221")

    assert code == 0
    assert output.startswith("TK221 (error): unknown key\n\nA key that means nothing is refused")


def test_an_unknown_code_is_answered_with_the_nearest() -> None:
    code, output = run("--explain", "TK22")

    assert code == 2
    assert "there is no code 'TK22'; did you mean \"TK22" in output


def test_the_schema_is_printed_as_it_is_published() -> None:
    assert run("--print-schema") == (0, published_text())


def test_colour_is_for_terminals_and_for_who_wants_it(here: Path) -> None:
    pty = pytest.importorskip("pty")
    program = "from talekeeper.cli.commands.validate_plugin import main; main()"

    def on_a_terminal(**environment: str) -> bytes:
        leader, follower = pty.openpty()
        subprocess.run(
            [sys.executable, "-c", program, "lore"],
            stdout=follower,
            check=False,
            env={**os.environ, "TERM": "xterm", **environment},
        )
        os.close(follower)
        output = b""
        while chunk := _read(leader):
            output += chunk
        os.close(leader)
        return output

    def _read(leader: int) -> bytes:
        try:
            return os.read(leader, 65536)
        except OSError:
            return b""

    assert b"\x1b[31m\x1b[1mTK221" in on_a_terminal(NO_COLOR="")
    assert b"\x1b[" not in on_a_terminal(NO_COLOR="1")


def test_no_colour_goes_into_a_pipe(here: Path, validate: Run) -> None:
    assert "\x1b[" not in validate("lore").stdout


def test_a_terminal_that_lacks_a_character_gets_its_escape(here: Path, validate: Run) -> None:
    (here / "lore" / "plugin.toml").write_text(BROKEN.replace('"lore"', '"漢"'), encoding="utf-8")

    result = validate("lore", PYTHONIOENCODING="latin-1", PYTHONUTF8="0")

    assert result.returncode == 1
    assert '2 | id = "\\u6f22"' in result.stdout
    assert result.stderr == ""


def test_who_reads_only_the_first_line_gets_no_traceback(here: Path) -> None:
    program = f"{sys.executable} -c 'from talekeeper.cli.commands.validate_plugin import main; main()'"

    result = subprocess.run(
        ["bash", "-c", f"{program} --print-schema | head -n 1"], capture_output=True, text=True, check=False
    )

    assert result.stdout == "{\n"
    assert result.stderr == ""


@pytest.mark.parametrize("form", ["text", "json", "github"])
@pytest.mark.parametrize(("target", "code"), [(str(GOOD / "minimal"), 0), ("lore", 1), ("nowhere", 2)])
def test_what_was_found_stands_though_nobody_reads_it(here: Path, target: str, code: int, form: str) -> None:
    program = "from talekeeper.cli.commands.validate_plugin import main; main()"
    read_end, write_end = os.pipe()
    os.close(read_end)

    done = subprocess.run(
        [sys.executable, "-c", program, "--format", form, target],
        stdout=write_end,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )

    os.close(write_end)
    assert (done.returncode, done.stderr) == (code, "")


def test_an_interrupted_run_is_no_run_with_findings(here: Path) -> None:
    program = """
import talekeeper.manifest.targets as targets, talekeeper.cli.commands.validate_plugin as program
def interrupted(*_, **__): raise KeyboardInterrupt
targets.check_target = interrupted
program.main()
"""

    done = subprocess.run([sys.executable, "-c", program, "lore"], capture_output=True, text=True, check=False)

    assert done.returncode == 130
    assert "Traceback" not in done.stderr


def test_json_stays_json_on_a_terminal_that_lacks_a_character(here: Path, validate: Run) -> None:
    (here / "lore" / "plugin.toml").write_text(BROKEN.replace('"lore"', '"🜁"'), encoding="utf-8")

    result = validate("lore", "--json", PYTHONIOENCODING="latin-1", PYTHONUTF8="0")

    assert json.loads(result.stdout)["targets"][0]["manifests"][0]["id"] == "🜁"


def test_a_seed_that_the_schema_asks_about_at_every_level_is_answered(here: Path) -> None:
    again = '{"allOf": [' * 25 + '{"$ref": "#"}' + "]}" * 25
    schema = f'{{"type": "object", "properties": {{"body": {{"type": "string"}}, "a": {again}}}}}'
    (here / "lore" / "entries.schema.json").write_text(schema, encoding="utf-8")
    deep = '{"a": ' * 60 + "1" + "}" * 60
    (here / "lore" / "deep.jsonl").write_text(f'{{"id": "k", "a": {deep}}}', encoding="utf-8")
    seeded = BROKEN.replace("txt", "text").replace("search =", 'seed = "deep.jsonl"\nsearch =')
    (here / "lore" / "plugin.toml").write_text(seeded, encoding="utf-8")

    code, output = run("lore")

    assert code == 1
    assert f"deep.jsonl:1: {'/'.join('a' * 61)} must be of type object" in output


HEAVY = {"numpy", "httpx", "mcp", "starlette", "pluggy", "sqlite3", "asyncio"}


def _loaded(arguments: list[str], *, whole: bool = False) -> set[str]:
    """The modules by the names of their packages, or by their whole names."""
    program = "from talekeeper.cli.commands.validate_plugin import main; main()"
    result = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", program, *arguments], capture_output=True, text=True, check=False
    )
    names = {it.rpartition("|")[2].strip() for it in result.stderr.splitlines()}
    return names if whole else {it.partition(".")[0] for it in names}


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--explain", "TK221"], [str(GOOD / "minimal")], [str(GOOD / "everything" / "plugin.toml")]],
)
def test_nothing_heavy_is_loaded(arguments: list[str]) -> None:
    assert _loaded(arguments) & HEAVY == set()


PYDANTIC = {"pydantic", "pydantic_core"}
RARE = {"logging", "tempfile", "zipfile", "importlib.metadata"}


@pytest.mark.parametrize(
    "folder", ["tests/manifest/good/minimal", "examples/lorebook", "plugins/memory", "examples/rumours"]
)
def test_a_good_manifest_and_its_seeds_are_checked_without_pydantic(folder: str) -> None:
    loaded = _loaded([str(ROOT / folder)], whole=True)

    assert "talekeeper.manifest.loader" in loaded
    assert loaded & (PYDANTIC | RARE) == set()


def test_pydantic_is_loaded_to_explain_a_bad_manifest(folder: Path, head: str, data: str) -> None:
    (folder / "plugin.toml").write_text(head.replace("api = 1", 'api = "1"') + data, encoding="utf-8")

    assert "pydantic" in _loaded([str(folder)])


def test_help_loads_no_pydantic() -> None:
    assert _loaded(["--help"]) & {*PYDANTIC, "jsonschema_rs", "tomli"} == set()


def test_it_is_a_command_of_talekeeper_too(here: Path) -> None:
    program = "import sys; from talekeeper.cli.app import run; sys.exit(run(sys.argv[1:]))"

    result = subprocess.run(
        [sys.executable, "-c", program, "validate-plugin", "lore", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert result.returncode == 1
    assert json.loads(result.stdout)["targets"][0]["manifests"][0]["id"] == "lore"

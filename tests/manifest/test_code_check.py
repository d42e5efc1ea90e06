"""`--imports`: the plugin's code in a process of its own, compared with what the manifest declares."""

from __future__ import annotations

import builtins
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from talekeeper.cli import look_at_code, with_code
from talekeeper.manifest.targets import check_target

MANIFEST = """\
[plugin]
id = "dice"
version = "0.1.0"
api = 1
summary = "Dice."
module = "code"

[contributes.data.rolls]
version = 2
schema = "rolls.json"

[[contributes.tools]]
name = "roll-dice"
description = "Rolls dice and says what came up."

[[contributes.commands]]
id = "check"
"""
CODE = """\
from talekeeper.api import hookimpl

def do(*arguments):
    return 4

@hookimpl
def talekeeper_register(registry):
    registry.tool("roll-dice", do)
    registry.command("check", do)
    registry.migration("rolls", do)
"""
Told = Callable[..., list[str]]


@pytest.fixture
def dice(tmp_path: Path) -> Path:
    root = tmp_path / "dice"
    root.mkdir()
    (root / "plugin.toml").write_text(MANIFEST, encoding="utf-8")
    (root / "rolls.json").write_text('{"type": "object"}', encoding="utf-8")
    return root


@pytest.fixture
def told(dice: Path) -> Told:
    """Runs the code in a process of its own and gives `line code message` for each diagnostic."""

    def described(code: str, seconds: float = 20.0) -> list[str]:
        (dice / "code.py").write_text(code, encoding="utf-8")
        report = with_code(check_target(str(dice)), seconds)
        return [f"{it.line} {it.code} {it.message}" for it in report.diagnostics]

    return described


@pytest.fixture
def looked(dice: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Told:
    """Runs the code in this process, for code that lets it live, and gives `code message`."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def described(code: str) -> list[str]:
        (dice / "code.py").write_text(code, encoding="utf-8")
        return [
            f"{it['code']} {it['message']}" for it in look_at_code(dice / "plugin.toml", "dice", tmp_path / "stage")
        ]

    return described


def test_code_that_registers_what_is_declared_is_clean(looked: Told) -> None:
    assert looked(CODE) == []


def test_both_directions_are_told_at_once_and_where_they_are_declared(told: Told) -> None:
    code = CODE.replace('registry.tool("roll-dice"', 'registry.tool("reroll"').replace(
        '    registry.migration("rolls", do)\n', ""
    )

    assert told(code) == [
        '6 TK505 the code registers the tool "reroll", which is not declared',
        '9 TK504 the migration of "rolls" is declared, and the code does not register it',
        '13 TK504 the tool "roll-dice" is declared, and the code does not register it',
    ]


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("raise ValueError('no tide')", "TK501 ValueError at code.py:1: no tide"),
        ("import sys; sys.exit('gone')", "TK501 SystemExit at code.py:1: gone"),
        ("raise KeyboardInterrupt", "TK501 KeyboardInterrupt at code.py:1"),
        ("def f(:", "TK501 SyntaxError: "),
        ("x = 1", "TK502 code has no function talekeeper_register under @hookimpl"),
        (CODE.replace("@hookimpl\n", ""), "TK502 code has no function talekeeper_register under @hookimpl"),
        (
            CODE.replace("_register", "_registre"),
            "TK502 code has no function talekeeper_register under @hookimpl; it has",
        ),
        (CODE + "    raise OSError('no dice')", "TK503 OSError at code.py:11: no dice"),
        (CODE.replace('"check", do', '"check", 5'), "TK503 command 'check' is registered with int, not a function"),
        (CODE + "    registry.tool('roll-dice', do)", "TK503 tool 'roll-dice' is registered twice"),
        (CODE.replace("(registry)", "(register)"), "TK503 "),
    ],
    ids=[
        "raises",
        "exits",
        "interrupts",
        "syntax",
        "empty",
        "unmarked",
        "misspelt",
        "hook",
        "number",
        "twice",
        "argument",
    ],
)
def test_what_goes_wrong_in_the_code_is_a_finding(looked: Told, code: str, says: str) -> None:
    (found,) = looked(code)

    assert found.startswith(says)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import os; os._exit(0)", "TK501 importing ends the process with code 0"),
        (CODE + "    import os; os._exit(9)", "TK503 registering ends the process with code 9"),
    ],
    ids=["importing", "registering"],
)
def test_code_that_ends_the_process_is_told_from_outside(told: Told, code: str, says: str) -> None:
    assert told(code) == [f"6 {says}"]


@pytest.mark.skipif(os.name != "posix", reason="signals and forks are POSIX")
def test_a_signal_is_called_by_its_name(told: Told) -> None:
    (found,) = told("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)")

    assert found == "6 TK501 importing ends the process with signal SIGSEGV"


LEFT_BEHIND = {
    "thread": "import threading, time; threading.Thread(target=time.sleep, args=(60,)).start()",
    "atexit": "import atexit, time; atexit.register(time.sleep, 60)",
    "process": "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])",
    "fork": "import os, time\nif os.fork() == 0: time.sleep(60)",
}


@pytest.mark.skipif(os.name != "posix", reason="signals and forks are POSIX")
@pytest.mark.parametrize("start", LEFT_BEHIND.values(), ids=LEFT_BEHIND)
def test_what_the_code_leaves_running_is_not_waited_for(told: Told, start: str) -> None:
    assert told(f"{start}\n{CODE}") == []


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks /proc")
def test_a_process_that_the_code_starts_ends_with_it(told: Told, dice: Path) -> None:
    # The code is imported twice, so a second child may be ended while it writes: the file is replaced whole.
    child = f"""import os, pathlib, time
it = pathlib.Path({str(dice / "child")!r}); mine = it.with_suffix(f".{{os.getpid()}}")
mine.write_text(str(os.getpid())); mine.replace(it); time.sleep(60)"""
    start = f"import pathlib, subprocess, sys, time\nsubprocess.Popen([sys.executable, '-c', {child!r}])\n"
    wait = f"it = pathlib.Path({str(dice / 'child')!r})\nwhile not it.exists(): time.sleep(0.01)\n"
    told(start + wait + CODE)
    process = int((dice / "child").read_text())

    assert _ended(process)


def _ended(process: int) -> bool:
    """Whether it ends within five seconds; a signal takes its time."""
    state = Path(f"/proc/{process}/stat")
    for _ in range(100):
        if not state.exists() or state.read_text().split()[2] in {"Z", "X"}:
            return True
        time.sleep(0.05)
    return False


def test_code_that_asks_a_person_gets_no_answer(told: Told) -> None:
    (found,) = told("input('Who are you?')")

    assert found.startswith("6 TK501 EOFError at code.py:1")


def test_an_exception_whose_text_cannot_be_made_is_named(told: Told) -> None:
    (found,) = told("class Odd(BaseException):\n    def __str__(self): raise self\nraise Odd")

    assert found == "6 TK501 Odd at code.py:3"


def test_a_manifest_of_another_name_is_the_one_that_counts(dice: Path, told: Told) -> None:
    told(CODE)
    (dice / "plugin.toml").rename(dice / "other.toml")

    result = with_code(check_target(str(dice / "other.toml")))

    assert result.diagnostics == []


def test_what_the_code_prints_is_no_finding(told: Told) -> None:
    assert told(f"print('[' * 99)\n{CODE}") == []


def test_code_that_never_ends_is_ended(told: Told) -> None:
    assert told("while True: pass", 3.0) == ["6 TK501 importing takes more than 3 seconds"]


def test_code_that_cannot_be_loaded_twice_is_told(looked: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtins, "dice", None, raising=False)
    monkeypatch.delattr(builtins, "dice")
    first, *rest = CODE.splitlines()
    once = "\n".join(
        [first, "import builtins", *rest, "    assert not hasattr(builtins, 'dice')", "    builtins.dice = 1"]
    )

    (found,) = looked(once)

    assert found.startswith("TK506 loaded again, the code fails: ")


def test_a_manifest_that_does_not_hold_runs_no_code(told: Told, dice: Path) -> None:
    (dice / "plugin.toml").write_text(MANIFEST.replace("api = 1", "api = 0"), encoding="utf-8")

    found = told("open('ran', 'w')")

    assert [it.split()[1] for it in found] == ["TK206"]
    assert not (dice / "ran").exists()


def test_running_leaves_nothing_in_the_folder(told: Told, dice: Path) -> None:
    told(CODE)

    assert sorted(it.name for it in dice.iterdir()) == ["code.py", "plugin.toml", "rolls.json"]


def test_the_code_of_a_wheel_is_run_from_the_wheel(
    dice: Path, told: Told, tmp_path: Path, wheel_of: Callable[[Path], Path]
) -> None:
    told(CODE + "    registry.tool('more', do)\n")
    build = tmp_path / "build"
    build.mkdir()
    dice.rename(build / "dice")
    info = build / "dice-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: dice\nVersion: 0.1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[talekeeper.plugins]\ndice = dice\n", encoding="utf-8")

    result = with_code(check_target(str(wheel_of(build))))

    assert [it.code for it in result.diagnostics] == ["TK505"]


def test_a_damaged_file_that_only_the_code_needs_is_a_finding(
    dice: Path, told: Told, tmp_path: Path, wheel_of: Callable[[Path], Path]
) -> None:
    told(CODE + "MARK = 'original'\n")
    build = tmp_path / "build"
    info = build / "dice-0.1.0.dist-info"
    info.mkdir(parents=True)
    dice.rename(build / "dice")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: dice\nVersion: 0.1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[talekeeper.plugins]\ndice = dice\n", encoding="utf-8")
    wheel = wheel_of(build)
    wheel.write_bytes(wheel.read_bytes().replace(b"'original'", b"'changed!'"))

    result = with_code(check_target(str(wheel)))

    assert [(it.code, it.message) for it in result.diagnostics] == [
        ("TK406", 'the wheel is refused: "dice/code.py" is damaged or encrypted')
    ]


def test_no_code_is_run_unless_asked(dice: Path, validate: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    (dice / "code.py").write_text(f"open({str(dice / 'ran')!r}, 'w').close()\n{CODE}", encoding="utf-8")

    without = validate(dice)
    ran = (dice / "ran").exists()
    asked = validate(dice, "--imports")

    assert (without.returncode, ran) == (0, False)
    assert (asked.returncode, (dice / "ran").exists()) == (0, True)

"""The end-to-end verifier: six turns pass, and each thing it can require can fail."""

from __future__ import annotations

import json
import runpy
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "verify_session.py"

EVERYTHING = ("--require-recall", "--require-summary", "--require-tool", "memory-search")


@dataclass(frozen=True)
class Outcome:
    """What one run of the script gave."""

    code: int
    verdicts: dict[str, str]
    why: dict[str, str]
    folder: Path
    err: str

    def lines(self, name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / name).read_text("utf-8").splitlines()]


Verify = Callable[..., Outcome]


def outcome_of(code: int, out: str, err: str, folder: Path) -> Outcome:
    found: list[dict[str, str]] = json.loads(out)["verdicts"] if out else []
    words = {one["phase"]: one["word"] for one in found}
    return Outcome(code, words, {one["phase"]: one["why"] for one in found}, folder, err)


@pytest.fixture(scope="module")
def six_turns(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """The script as people start it."""
    folder = tmp_path_factory.mktemp("artefacts")
    options = ["--json", "--out", str(folder), "--run", "plain", "--require-tool", "memory-search", "--require-recall"]
    done = subprocess.run([sys.executable, str(SCRIPT), *options], capture_output=True, text=True, check=False)
    return outcome_of(done.returncode, done.stdout, done.stderr, folder)


@pytest.fixture
def verify(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Verify:
    """The script's function, in this process."""
    monkeypatch.setattr("sys.path", [str(SCRIPT.parent), *sys.path])
    main: Callable[[list[str]], int] = runpy.run_path(str(SCRIPT))["main"]

    def run(*options: str) -> Outcome:
        folder = tmp_path / "artefacts"
        code = main(["--json", "--out", str(folder), *options])
        captured = capsys.readouterr()
        return outcome_of(code, captured.out, captured.err, folder)

    return run


def test_six_turns_pass(six_turns: Outcome) -> None:
    assert (six_turns.code, six_turns.err) == (0, "")
    assert six_turns.verdicts == {
        "plain/turns": "PASS",
        "plain/jobs": "PASS",
        "plain/prompt": "PASS",
        "plain/store": "PASS",
        "tool": "PASS",
        "recall": "PASS",
        "summary": "SKIP",
    }


def test_it_leaves_what_can_be_looked_at(six_turns: Outcome) -> None:
    turns, prompts = six_turns.lines("plain-turns.jsonl"), six_turns.lines("plain-prompts.jsonl")

    assert [turn["turn"] for turn in turns] == [1, 2, 3, 4, 5, 6]
    assert {prompt["slot"] for prompt in prompts} >= {"narrator", "extract"}
    assert len(six_turns.lines("verdicts.jsonl")) == len(six_turns.verdicts)
    assert "plain turn 6" in (six_turns.folder / "log.txt").read_text()
    store = sqlite3.connect(six_turns.folder / "store.sqlite")
    assert store.execute("SELECT count(*) FROM message").fetchone() == (12,)
    store.close()


def test_each_requirement_can_fail(verify: Verify) -> None:
    options = ("--turns", "2", "--plugins", "", "--require-tool", "no-such-tool", "--max-prompt-tokens", "20")

    outcome = verify("--run", "plain", *options, "--require-recall", "--require-summary")

    assert outcome.code == 1
    failed = {phase for phase, word in outcome.verdicts.items() if word == "FAIL"}
    assert failed == {"plain/prompt", "tool", "recall", "summary"}


def test_a_story_that_lost_its_beginning_needs_a_summary_when_one_is_required(verify: Verify) -> None:
    outcome = verify("--run", "plain", "--turns", "9", "--plugins", "", "--context", "1900", "--require-summary")

    assert outcome.code == 1
    assert outcome.verdicts["summary"] == "FAIL"
    assert "compacted turns shows one" in outcome.why["summary"]


def test_an_endpoint_that_is_not_there_fails_the_turns(verify: Verify) -> None:
    outcome = verify("--run", "plain", "--turns", "1", "--plugins", "", "--base-url", "http://127.0.0.1:9/v1")

    assert outcome.code == 1
    assert outcome.verdicts["plain/turns"] == "FAIL"


@pytest.mark.parametrize(
    ("options", "said"),
    [(("--plugins", "no-such-plugin"), "there is no plugin"), (("--base-url", "ftp://x"), "base_url")],
)
def test_what_cannot_be_played_exits_with_2(verify: Verify, options: tuple[str, ...], said: str) -> None:
    outcome = verify("--run", "plain", "--turns", "1", *options)

    assert outcome.code == 2
    assert said in outcome.err
    assert "Traceback" not in outcome.err


def test_artefacts_of_an_earlier_run_are_not_written_over(verify: Verify, tmp_path: Path) -> None:
    verify("--run", "plain", "--turns", "1", "--plugins", "")

    outcome = verify("--run", "plain", "--turns", "1", "--plugins", "")

    assert outcome.code == 2
    assert "the folder for artefacts is not empty" in outcome.err


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--locale", "zh", "--context", "8192")], ids=["en", "zh"])
def test_every_run_passes_with_everything_required(verify: Verify, options: tuple[str, ...]) -> None:
    outcome = verify(*EVERYTHING, *options)

    assert (outcome.code, set(outcome.verdicts.values())) == (0, {"PASS"}), outcome.why

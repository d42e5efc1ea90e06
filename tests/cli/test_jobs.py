"""`talekeeper jobs`, and what `status` says of them."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from talekeeper.cli import app
from talekeeper.errors import StoreUnusable
from talekeeper.home import Home
from talekeeper.story import Address, Draft

MANIFEST = """
[plugin]
id = "diary"
version = "1.0.0"
api = 1
summary = "For a test."
module = "code"

[permissions]
models = ["extract"]

[contributes.data.entries]
schema = "entry.schema.json"

[[contributes.jobs]]
id = "write"
on = "turn-committed"

[[contributes.jobs]]
id = "count"
on = "manual"
"""
CODE = """
from talekeeper.api import JobResult, UserError, hookimpl


def write(ctx, job):
    for message in job.messages():
        if "storm" in message.text and not job.reason:
            raise UserError("nobody writes in a storm")
        if "muse" in message.text:
            ctx.models.complete("extract", [("user", message.text)])
    with ctx.data.batch() as batch:
        for message in job.messages():
            batch.add("entries", {"body": message.text}, dedupe=message.id)
    return JobResult(covered=job.range)


def count(ctx, job):
    return JobResult(details={"entries": ctx.data["entries"].count()})


@hookimpl
def talekeeper_register(registry):
    registry.job("write", write)
    registry.job("count", count)
"""
HARBOUR = Address("default", "harbour")
Run = Callable[..., Any]
TellTurns = Callable[..., None]


@pytest.fixture(scope="session")
def diary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a plugin with two jobs."""
    folder = tmp_path_factory.mktemp("plugins") / "diary"
    folder.mkdir()
    schema = '{"type": "object", "properties": {"body": {"type": "string"}}}'
    files = {"plugin.toml": MANIFEST, "code.py": CODE, "__init__.py": "", "entry.schema.json": schema}
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def jobs(tk: Run, diary: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`tk` with the plugin, which every session made has."""
    monkeypatch.setenv("TALEKEEPER_PLUGINS", "lorebook,diary")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

    def run(*arguments: str) -> Any:
        return tk("--plugin", diary, *arguments)

    assert run("sessions", "new", "harbour").code == 0
    return run


@pytest.fixture
def told(home: Path) -> TellTurns:
    """Tells turns without noting their jobs, as an import does."""

    def tell(*texts: str) -> None:
        with Home.open(home, no_plugins="") as opened:
            for text in texts:
                opened.story.messages.append(HARBOUR, [Draft("player", text), Draft("narrator", "So it was.")])

    return tell


def test_a_session_without_jobs_says_so(jobs: Run) -> None:
    listed = jobs("jobs", "list", "harbour")

    assert (listed.code, listed.out) == (0, "")
    assert "harbour has no jobs" in listed.err
    assert jobs("jobs", "run", "harbour").out == "nothing to do in harbour\n"
    assert jobs("jobs", "retry", "harbour").out == "no job of harbour has failed\n"


def test_run_does_what_imported_turns_are_due(jobs: Run, told: TellTurns) -> None:
    told("I wait.", "I walk on.")

    done = jobs("jobs", "run")
    again = jobs("jobs", "run", "harbour", "--json")

    assert (done.code, done.out) == (0, "diary/write: 2 succeeded\n")
    assert (again.code, again.json) == (0, {"session": "harbour", "jobs": []})
    assert jobs("jobs", "list", "harbour", "--json").json["jobs"][0] | {"id": "", "created": "", "updated": ""} == {
        "id": "",
        "job": "diary/write",
        "messages": "0..1",
        "place": "0:1",
        "on_lineage": True,
        "state": "succeeded",
        "attempts": 1,
        "why": "",
        "reason": "",
        "not_before": None,
        "did_work": True,
        "covered": [0, 1],
        "details": {},
        "created": "",
        "updated": "",
    }


def test_a_job_that_failed_is_told_and_retried(jobs: Run, told: TellTurns) -> None:
    told("I wait.", "I walk into the storm.")

    failed = jobs("jobs", "run", "harbour")
    status = jobs("status")
    state = jobs("status", "--json").json["jobs"]
    listed = jobs("jobs", "list", "harbour")
    retried = jobs("jobs", "retry", "harbour")
    done = jobs("jobs", "run", "harbour")

    assert (failed.code, failed.out) == (1, "diary/write: 1 succeeded\ndiary/write: 1 failed\n")
    assert "diary/write on messages 2..3: nobody writes in a storm; not before" in failed.err
    assert "jobs      1 failed\n          harbour: diary/write: nobody writes in a storm\n" in status.out
    assert state == {
        "unfinished": {"failed": 1},
        "faults": ["harbour: diary/write: nobody writes in a storm"],
        "unrecorded": [],
        "untold_turns": {},
    }
    assert "nobody writes in a storm" in listed.out
    assert retried.out == "1 job due; talekeeper jobs run harbour does them now\n"
    assert (done.code, done.out) == (0, "diary/write: 1 succeeded\n")
    assert "jobs      all done" in jobs("status").out


def test_turns_that_were_given_no_job_are_not_all_done(jobs: Run) -> None:
    with Home.open(Path(os.environ["TALEKEEPER_HOME"]), tracing=False) as home:
        home.story.messages.append(HARBOUR, [Draft("player", "I wait."), Draft("narrator", "Rain.")])

    before, state = jobs("status").out, jobs("status", "--json").json["jobs"]
    jobs("jobs", "run", "harbour")

    assert "jobs      none yet for 1 turn of 1 session\n" in before
    assert "1 turn of harbour: talekeeper jobs run harbour\n" in before
    assert state["untold_turns"] == {"default/harbour": 1}
    assert "jobs      all done" in jobs("status").out


def test_an_end_that_could_not_be_written_is_told_by_every_process(
    jobs: Run, told: TellTurns, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise StoreUnusable("the disk is full")

    told("I wait.")
    with monkeypatch.context() as broken:
        broken.setattr("talekeeper.story.ledger.end", full)
        jobs("jobs", "run", "harbour")
    status, doctor = jobs("status").out, jobs("doctor")
    jobs("jobs", "run", "harbour")

    line = "harbour: how diary/write ended could not be written (the disk is full)"
    assert "1 not written down, 1 running" in status
    assert line in status
    assert (doctor.code, line in doctor.out + doctor.err) == (1, True)
    assert "all done" in jobs("status").out
    assert jobs("doctor").code == 0


def test_what_waits_for_a_model_is_told_and_hastened(jobs: Run, told: TellTurns) -> None:
    told("I ask the muse.")

    waits = jobs("jobs", "run", "harbour")
    again = jobs("jobs", "run", "harbour", "--json")

    assert waits.code == again.code == 1
    assert "waits for a model: no model is configured" in waits.err
    assert [(job["state"], job["attempts"]) for job in again.json["jobs"]] == [("pending", 0)]


def test_the_list_stays_narrow_and_says_a_long_reason_once_below(jobs: Run, told: TellTurns) -> None:
    told("I ask the muse.", "I ask the muse again.")
    jobs("jobs", "run", "harbour")

    listed = jobs("jobs", "list", "harbour")

    assert max(map(len, listed.out.splitlines())) < 160
    assert "waits for a model: no model is configured; not before" in listed.out
    assert listed.err.count("write [models.") == 1


def test_what_waited_for_a_model_that_is_there_now_is_told_as_due(
    jobs: Run, told: TellTurns, monkeypatch: pytest.MonkeyPatch
) -> None:
    told("I ask the muse.")
    jobs("jobs", "run", "harbour")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setattr("sys.stdin", io.StringIO("/jobs\n"))

    (listed,) = jobs("jobs", "list", "harbour", "--json").json["jobs"]
    shown = jobs("jobs", "list", "harbour")
    played = jobs("play", "-s", "harbour")
    (left,) = jobs("jobs", "list", "harbour", "--json").json["jobs"]

    assert listed["why"] == "its model is there now; it is done after the next turn, or by talekeeper jobs run"
    assert "diary/write: pending" in played.out
    assert "waits for a model" not in shown.out + shown.err + played.out + played.err
    assert (left["state"], left["why"], left["not_before"], left["details"]) == ("pending", "", None, {})


def test_a_turn_undone_before_its_jobs_began_has_them_done_when_play_returns_to_it(
    jobs: Run, told: TellTurns, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told("I wait.")
    with Home.open(home, no_plugins="") as opened:
        end = opened.story.messages.read(HARBOUR)[-1].coordinate
        opened.story.jobs.enqueue(HARBOUR, "diary", "write", end, start=0)
        opened.story.tree.undo(HARBOUR)
    monkeypatch.setattr("sys.stdin", io.StringIO("/redo\n"))

    jobs("play", "-s", "harbour", "--no-model")

    (job,) = jobs("jobs", "list", "harbour", "--json").json["jobs"]
    assert (job["state"], job["attempts"]) == ("succeeded", 1)


def test_one_job_is_retried_by_the_end_of_its_id(jobs: Run, told: TellTurns) -> None:
    told("A storm.", "A storm again.")
    jobs("jobs", "run", "harbour")
    failed = [job["id"] for job in jobs("jobs", "list", "harbour", "--json").json["jobs"]]

    retried = jobs("jobs", "retry", "harbour", failed[0][-8:], "--json")

    assert [job["id"] for job in retried.json["jobs"]] == [failed[0]]
    assert jobs("jobs", "retry", "harbour", "").code == 2
    missing = jobs("jobs", "retry", "harbour", "nothing")
    assert (missing.code, missing.err) == (1, "talekeeper: harbour: there is no job 'nothing'\n")


def test_a_job_that_is_done_needs_no_retry(jobs: Run, told: TellTurns) -> None:
    told("I wait.")
    jobs("jobs", "run", "harbour")
    (job,) = jobs("jobs", "list", "harbour", "--json").json["jobs"]

    refused = jobs("jobs", "retry", "harbour", job["id"])

    assert refused.code == 1
    assert "has succeeded; it needs no retry" in refused.err


def test_a_named_job_is_done_on_the_whole_story(jobs: Run, told: TellTurns) -> None:
    told("I wait.")

    counted = jobs("jobs", "run", "harbour", "diary/count", "--json")
    written = jobs("jobs", "run", "harbour", "diary/write", "--json")
    again = jobs("jobs", "run", "harbour", "diary/count", "--json")

    assert [(job["job"], job["messages"]) for job in counted.json["jobs"]] == [("diary/count", "0..1")]
    assert [(job["job"], job["messages"]) for job in written.json["jobs"]] == [("diary/write", "0..1")]
    assert [job["details"] for job in again.json["jobs"]] == [{"entries": 2}]


def test_a_job_nobody_declares_is_named_with_those_there_are(jobs: Run) -> None:
    refused = jobs("jobs", "run", "harbour", "diary/cuont")

    assert refused.code == 1
    assert "plugin 'diary' has no job 'cuont'; it has diary/count, diary/write" in refused.err


def test_work_of_another_branch_says_that_it_waits(jobs: Run, told: TellTurns, home: Path) -> None:
    told("A storm.")
    jobs("jobs", "run", "harbour")
    with Home.open(home, no_plugins="") as opened:
        opened.story.tree.undo(HARBOUR)

    (job,) = jobs("jobs", "list", "harbour", "--json").json["jobs"]

    assert (job["on_lineage"], job["why"]) == (
        False,
        "nobody writes in a storm; waits for a return to its branch",
    )


def test_a_job_whose_process_ended_says_so(jobs: Run, told: TellTurns, home: Path) -> None:
    told("I wait.")
    with Home.open(home, no_plugins="") as opened:
        end = opened.story.messages.read(HARBOUR)[-1].coordinate
        opened.story.jobs.enqueue(HARBOUR, "diary", "write", end, start=0)
        with opened.leases.hold("default", "jobs:harbour") as lease:
            opened.story.jobs.claim(HARBOUR, lease)
            running = app.run(["jobs", "list", "harbour"])

    assert running == 0
    assert "its process ended; it is taken up again" in jobs("jobs", "list", "harbour").out
    assert jobs("jobs", "run", "harbour").out == "diary/write: 1 succeeded\n"


def test_jobs_another_process_runs_are_left_to_it(jobs: Run, told: TellTurns, home: Path) -> None:
    told("I wait.")
    with Home.open(home, no_plugins="") as opened, opened.leases.hold("default", "jobs:harbour", holder="the harbour"):
        busy = jobs("jobs", "run", "harbour")

    assert busy.code == 1
    assert busy.err == "talekeeper: 'jobs:harbour' is held by the harbour; try again when it has finished\n"


def test_jobs_are_listed_whatever_is_wrong_with_the_models(jobs: Run, told: TellTurns, home: Path) -> None:
    told("I wait.")
    (home / "talekeeper.toml").write_text("[models")

    assert jobs("jobs", "list", "harbour").code == 0
    assert jobs("jobs", "run", "harbour").code == 1
    assert jobs("status").code == 0

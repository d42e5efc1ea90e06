"""Jobs of plugins as the runner does them: in order, each on its own, whatever their code does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from talekeeper.clock import FixedClock
from talekeeper.errors import Busy, NotFound, PluginError, StoreUnusable
from talekeeper.story import MAX_BACKLOG, Draft, Job, JobState

Start = Callable[..., Any]
Until = Callable[[Callable[[], bool]], None]

NOTE = """
with ctx.data.batch() as batch:
    for message in job.messages():
        batch.add("notes", {"text": message.text}, dedupe=message.id)
return JobResult(covered=job.range)
"""
NOTHING = "return JobResult()"


def test_jobs_run_in_the_order_of_the_manifest_turn_by_turn(start: Start) -> None:
    home = start({"one": NOTHING, "two": NOTHING, "last": NOTHING})
    noted = [job.kind for n in range(2) for job in home.turn(f"ask {n}", f"tell {n}")]

    assert noted == ["one", "two", "last"] * 2
    assert home.run() == [f"{kind} succeeded" for kind in noted]
    assert home.run() == []


def test_a_job_sees_its_own_turn_and_writes_at_its_end(start: Start) -> None:
    view = 'return JobResult(details={"turn": job.turn, "range": job.range, "n": job.attempt,'
    home = start({"note": NOTE, "view": f'{view} "reason": job.reason, "late": job.superseded, "none": ctx.turn}})'})
    home.turn("ask", "tell")
    home.turn("ask more", "tell more")

    home.run()

    assert home.notes() == ["ask", "tell", "ask more", "tell more"]
    details = [dict(job.details) for job in home.story.jobs.all(home.address()) if job.kind == "view"]
    seen = {"n": 1, "reason": "", "late": False, "none": None}
    assert details == [{"turn": 1, "range": [0, 1], **seen}, {"turn": 2, "range": [2, 3], **seen}]


def test_a_coroutine_may_do_a_job(start: Start) -> None:
    home = start({"note": NOTE}, keyword="async def")
    home.turn("ask", "tell")

    assert home.run() == ["note succeeded"]
    assert home.notes() == ["ask", "tell"]


ENDINGS = {
    'raise Retry("not yet", after=7)': ("failed", "not yet"),
    'raise Retry("not yet", after=float("nan"))': ("failed", "not yet"),
    'raise Retry("not yet", after=1e300)': ("failed", "not yet"),
    'raise Skip("nobody spoke")': ("skipped", "nobody spoke"),
    'raise Skip("half a pair \\ud800")': ("skipped", "half a pair ?"),
    'return JobResult(skipped="nobody spoke")': ("skipped", "nobody spoke"),
    'raise UserError("the world has no map")': ("failed", "the world has no map"),
    'raise NoModel("none is configured")': ("pending", "waits for a model: none is configured"),
    "raise KeyError(7)": ("failed", "notes: job note raised KeyError: 7"),
    "raise SystemExit": ("failed", "notes: job note raised SystemExit"),
    "return {}": ("failed", "notes: what it gives back is refused: a job gives a JobResult, not dict"),
    "return JobResult(covered=(0, 2))": (
        "failed",
        "notes: what it gives back is refused: covered is (0, 2), which is no range up to depth 1",
    ),
    'return JobResult(covered="all")': (
        "failed",
        "notes: what it gives back is refused: covered is 'all', which is no range up to depth 1",
    ),
    "return JobResult(details={1: 2})": (
        "failed",
        "notes: what it gives back is refused: the value has a key that is not a string",
    ),
    'ctx.models.complete("dream", [("user", "x")])': (
        "failed",
        "notes: it asks the model 'dream'; add \"dream\" to models under [permissions] in plugin.toml",
    ),
    'ctx.models.complete("extract", [("user", "x")])': (
        "pending",
        (
            "waits for a model: no model is configured; write [models.narrator] in talekeeper.toml, set"
            " OPENAI_BASE_URL, or start a model server on this machine"
        ),
    ),
    'with ctx.data.batch() as batch: batch.put("notes", "k", {"text": "x"}, covers=(0, 2))': (
        "failed",
        (
            "notes: job note raised ParameterError: covers: depth 2 is not on the job's lineage, which ends at depth 1;"
            " cover what job.messages() and job.uncovered() give"
        ),
    ),
    'with ctx.data.batch() as batch: batch.put("notes", "k", {"text": "x"}, covers=(1, 0))': (
        "failed",
        (
            'notes: job note raised ParameterError: covers: (1, 0) is no range; give (first depth, last depth), "job"'
            " or None"
        ),
    ),
    'with ctx.data.batch() as batch: batch.put("common", "k", {"text": "x"}, covers=(0, 1))': (
        "failed",
        (
            "notes: job note raised ParameterError: covers: notes/common is of a workspace, and that has no messages;"
            " leave it out or give None"
        ),
    ),
}


@pytest.mark.parametrize("body", ENDINGS)
def test_how_a_job_ends_is_recorded_and_stops_no_other(start: Start, body: str) -> None:
    home = start({"note": body, "other": NOTE})
    home.turn("ask", "tell")

    ended = home.runner.run(home.address())

    assert [(job.state, job.reason) for job in ended] == [ENDINGS[body], ("succeeded", "")]
    assert home.notes() == ["ask", "tell"]


def test_what_waits_for_a_model_has_not_been_tried(start: Start, clock: FixedClock) -> None:
    home = start({"note": 'if not job.reason: raise NoModel("none")\n' + NOTE})
    home.turn("ask", "tell")

    (waiting,) = home.runner.run(home.address())
    clock.advance(3599)
    early = home.run()
    clock.advance(1)
    (done,) = home.runner.run(home.address())

    assert (waiting.state, waiting.attempts, early) == (JobState.PENDING, 0, [])
    assert (done.state, done.attempts) == (JobState.SUCCEEDED, 1)


def test_a_failed_job_is_done_later_with_its_own_messages(start: Start, clock: FixedClock) -> None:
    home = start({"note": 'if job.attempt == 1 and job.turn == 1: raise Retry("down", after=5)\n' + NOTE})
    home.turn("ask", "tell")
    first = home.run()
    home.turn("ask more", "tell more")
    clock.advance(5)

    assert (first, home.run()) == (["note failed"], ["note succeeded", "note succeeded"])
    assert home.notes() == ["ask", "tell", "ask more", "tell more"]
    assert home.story.coverage.covered(home.address(), "notes", "note") == [(0, 3)]


def test_a_late_job_knows_that_a_later_one_was_done(start: Start, clock: FixedClock) -> None:
    body = 'if job.attempt == 1 and job.turn == 1: raise Retry("down", after=5)\n'
    home = start({"note": body + 'return JobResult(details={"late": job.superseded})'})
    home.turn("ask", "tell")
    home.turn("ask more", "tell more")
    home.run()
    clock.advance(5)

    assert [job.details["late"] for job in home.runner.run(home.address())] == [True]
    assert [job.details["late"] for job in home.story.jobs.all(home.address())] == [True, False]


def test_a_job_over_its_time_fails_and_writes_nothing_more(start: Start) -> None:
    body = "import time\nwhile True:\n    time.sleep(0.01)\n    ctx.check()"
    home = start({"slow": body, "note": NOTE}, options={"job": 0.2})
    home.turn("ask", "tell")

    ended = home.runner.run(home.address())

    assert [job.state for job in ended] == ["failed", "succeeded"]
    assert ended[0].reason == "notes: job slow took longer than its 0.2 s and was given up"


def test_a_plugin_that_keeps_failing_waits_and_the_others_go_on(
    start: Start, write_plugin: Callable[..., Any], clock: FixedClock
) -> None:
    home = start({"bad": "raise KeyError"}, plugin_id="bad")
    write_plugin(home.folder / "plugins", {"note": NOTE})
    home.host.look_again()
    home.host.enable("notes")
    for number in range(5):
        home.turn(f"ask {number}", "tell")

    ended = home.runner.run(home.address())

    bad = [job for job in ended if job.plugin == "bad"]
    assert [job.state for job in bad] == ["failed"] * 3 + ["pending"] * 2
    assert bad[-1].reason.startswith(
        "waits for its plugin: plugin 'bad' is failed: suspended after 3 failures in a row"
    )
    assert sum(job.plugin == "notes" and job.state == "succeeded" for job in ended) == 5


def test_jobs_of_a_plugin_that_is_off_wait_for_it(start: Start, clock: FixedClock) -> None:
    home = start({"note": NOTE})
    home.turn("ask", "tell")
    home.host.disable("notes")
    off = home.runner.run(home.address())
    home.host.enable("notes")
    clock.advance(3600)

    assert [(job.state, job.attempts) for job in off] == [("pending", 0)]
    assert off[0].reason.startswith("waits for its plugin: plugin 'notes' is disabled")
    assert home.run() == ["note succeeded"]


def test_a_job_that_is_not_declared_any_more_is_skipped(start: Start, write_plugin: Callable[..., Any]) -> None:
    home = start({"note": NOTE, "gone": NOTE})
    home.turn("ask", "tell")
    home.host.close()
    write_plugin(home.folder / "plugins", {"note": NOTE})
    home.host.look_again()

    assert home.run() == ["note succeeded", "gone skipped"]


def test_a_failure_that_cannot_be_written_is_kept_until_the_job_is_done(
    start: Start, open_home: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = start({"note": NOTE})
    home.turn("ask", "tell")

    def full(*_: object, **__: object) -> None:
        raise StoreUnusable("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr("talekeeper.story.ledger.end", full)
        ended = home.run()
        kept = [(one.reason, one.because) for one in home.story.jobs.unrecorded]

    assert (ended, kept) == (["note running"], [("it was done", "the disk is full")])
    assert home.run() == ["note succeeded"]
    assert home.story.jobs.unrecorded == []
    assert home.notes() == ["ask", "tell"]


def test_a_strict_host_shows_the_plugins_own_exception_and_records_it(start: Start) -> None:
    home = start({"note": "raise KeyError(7)"}, options={"strict": True})
    home.turn("ask", "tell")

    with pytest.raises(KeyError):
        home.run()

    (job,) = home.story.jobs.all(home.address())
    assert (job.state, job.reason) == ("failed", "raised KeyError: 7")


def test_an_interrupted_job_is_put_back_as_if_it_had_not_begun(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    home = start({"note": NOTE})
    home.turn("ask", "tell")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as pressed:
        pressed.setattr(home.services.host.guard, "call", interrupted)
        with pytest.raises(KeyboardInterrupt):
            home.run()

    (job,) = home.story.jobs.all(home.address())
    assert (job.state, job.attempts) == ("pending", 0)
    assert home.run() == ["note succeeded"]


def test_only_one_runs_the_jobs_of_a_session(start: Start, until: Until, open_home: Callable[..., Any]) -> None:
    body = """
    from pathlib import Path
    Path(ctx.session.title).touch()
    while not Path(ctx.session.title + ".go").exists():
        ctx.clock.now()
    return JobResult()
    """
    home = start({"note": body})
    other = open_home()
    flag = home.folder / "flag"
    home.story.sessions.rename(home.address(), str(flag))
    home.turn("ask", "tell")

    thread = threading.Thread(target=home.run)
    thread.start()
    until(flag.exists)
    with pytest.raises(Busy, match="'jobs:s' is held by process"):
        other.run()
    (home.folder / "flag.go").touch()
    thread.join()

    assert other.run() == []
    assert [job.state for job in home.story.jobs.all(home.address())] == ["succeeded"]


def test_a_limit_leaves_the_rest(start: Start) -> None:
    home = start({"note": NOTE})
    home.turn("ask", "tell")
    home.turn("ask", "tell")

    assert home.run(limit=1) == ["note succeeded"]
    assert home.run() == ["note succeeded"]


def test_a_job_by_hand_is_done_on_the_whole_story_each_time_it_is_asked_for(start: Start) -> None:
    home = start({"count": "return JobResult(details={'n': len(job.messages())})"}, on="manual")
    address = home.address()
    home.runner.ask_for(address, "notes/count")
    (empty,) = home.runner.run(address)
    home.turn("ask", "tell")
    home.runner.ask_for(address, "notes/count")
    home.run()

    home.runner.ask_for(address, "notes/count")
    (again,) = home.runner.run(address)

    assert (empty.details, empty.start, empty.end) == ({"n": 0}, 0, -1)
    assert (again.details, again.start, again.end) == ({"n": 2}, 0, 1)
    assert len(home.story.jobs.all(address)) == 2


def test_a_job_that_is_not_there_cannot_be_asked_for(start: Start) -> None:
    home = start({"count": NOTHING}, on="manual")
    address = home.address()

    with pytest.raises(NotFound, match="it has notes/count"):
        home.runner.ask_for(address, "notes/cuont")
    home.host.disable("notes")
    with pytest.raises(PluginError, match="disabled"):
        home.runner.ask_for(address, "notes/count")


def test_what_was_imported_is_caught_up_with_turn_by_turn(start: Start) -> None:
    home = start({"note": NOTE, "last": NOTHING})
    told = [Draft("narrator", "opening")]
    for number in range(45):
        told += [Draft("player", f"ask {number}"), Draft("narrator", f"tell {number}")]
    home.story.messages.append(home.address(), [*told, Draft("player", "unanswered")])
    seen: list[Job] = []

    left = home.runner.left(home.address())
    ended = home.runner.catch_up(home.address(), on_job=seen.append)

    assert left == len(ended) == len(seen) == 90
    assert home.notes() == [draft.text for draft in told[1:]]
    assert home.runner.left(home.address()) == 0
    assert home.runner.catch_up(home.address()) == []


def test_what_a_long_backlog_put_aside_is_caught_up_with_once_the_model_is_there(start: Start) -> None:
    home = start({"note": NOTE})
    ledger, address = home.story.jobs, home.address()
    for number in range(MAX_BACKLOG + 7):
        home.turn(f"ask {number}", f"tell {number}")
    aside = [job for job in ledger.all(address) if job.state is JobState.SKIPPED]

    home.runner.catch_up(address)

    assert len(aside) == 7
    assert {job.state for job in ledger.all(address)} == {JobState.SUCCEEDED}
    assert len(home.notes()) == len(set(home.notes())) == (MAX_BACKLOG + 7) * 2
    assert home.runner.left(address) == 0


def test_catching_up_stops_where_a_round_fails(start: Start) -> None:
    home = start({"note": 'raise Retry("the model is down")'})
    for number in range(25):
        home.story.messages.append(home.address(), [Draft("player", f"ask {number}"), Draft("narrator", "tell")])

    ended = home.runner.catch_up(home.address())

    assert [job.state for job in ended] == ["failed"] * 20

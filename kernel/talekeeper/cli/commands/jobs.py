"""`talekeeper jobs`: the work of plugins outside the turn, its states with their reasons, and running it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from talekeeper.cli import output
from talekeeper.cli.options import Common, command_group, common
from talekeeper.cli.present import minute, place
from talekeeper.cli.targets import InSession, last_session_argument, session_argument, session_of
from talekeeper.errors import ParameterError
from talekeeper.story import Address, Job, JobState, lacked
from talekeeper.text import counted

if TYPE_CHECKING:
    from talekeeper.home import Home

_SHOWN = 20
_CLAUSE = "; "
_DONE = frozenset({JobState.SUCCEEDED, JobState.SKIPPED})


@command_group("list")
def group() -> None:
    """List, run and retry the work that follows turns.

    Without a command, lists it. Plugins do jobs after a turn, or on request. A failed job is tried again after a later
    turn.
    """


@group.command("list", cls=InSession, epilog="Example:  talekeeper jobs list low-house")
@last_session_argument
@click.option("--all", "everything", is_flag=True, help=f"Include all finished jobs.  [default: the last {_SHOWN}]")
@common
def list_jobs(options: Common, /, name: str | None, *, everything: bool) -> None:
    """List the jobs of a session, or of the session used last, with their state and why."""
    with options.open() as home:
        address = session_of(home, options, name).address
        jobs = home.story.jobs.all(address)
        told = Telling(home, address)
        newest = {job.id for job in jobs[-_SHOWN:]}
        shown = [told.json(job) for job in jobs if everything or job.id in newest or job.state not in _DONE]
    if options.as_json:
        output.emit({"session": address.session, "jobs": shown})
    elif shown:
        rows = [(one["job"], one["messages"], one["state"], one["attempts"], one["id"], _brief(one)) for one in shown]
        output.table(("job", "messages", "state", "tries", "id", "why"), rows, right={3})
        for reason in dict.fromkeys(str(one["reason"]) for one in shown if str(one["reason"]) in str(one["why"])):
            if _CLAUSE in reason:
                output.note(reason)
    else:
        cure = "a turn makes jobs, and talekeeper jobs run makes those of imported turns"
        output.note(f"{address.session} has no jobs; {cure}")


@group.command(cls=InSession, epilog="Example:  talekeeper jobs run low-house")
@last_session_argument
@click.argument("job", metavar="[PLUGIN/JOB]", required=False)
@common
def run(options: Common, /, name: str | None, job: str | None) -> int:
    """Run all unfinished jobs of a session, or of the session used last, also those for imported turns.

    Each job asks a model, so this takes long after a long import. Jobs write records; `data withdraw` takes one back.

    PLUGIN/JOB runs that job alone: for the turns that lack it, or on the whole story when it follows no turns. Exits
    with 1 when a job failed or waits.
    """
    with options.open() as home:
        address = session_of(home, options, name).address
        runner = home.jobs()
        if job is not None:
            runner.ask_for(address, job)
        done: list[Job] = []
        with output.progress("jobs", runner.left(address, job or "")) as reach:

            def count(ended: Job) -> None:
                done.append(ended)
                reach(len(done))

            runner.catch_up(address, only=job or "", on_job=count)
        told = Telling(home, address)
        ended = [told.json(each) for each in done]
    _tell_done(options, address, ended)
    return 0 if all(one["state"] in _DONE for one in ended) else 1


@group.command(cls=InSession, epilog="Example:  talekeeper jobs retry low-house")
@session_argument
@click.argument("job", metavar="[ID]", required=False)
@common
def retry(options: Common, /, name: str, job: str | None) -> None:
    """Make failed jobs due again, or the job with this ID.

    They run after the next turn, or with talekeeper jobs run.
    """
    with options.open() as home:
        address = session_of(home, options, name).address
        jobs = home.story.jobs.retry(address, None if job is None else _id_of(home, address, job))
        told = Telling(home, address)
        due = [told.json(each) for each in jobs]
    if options.as_json:
        output.emit({"session": address.session, "jobs": due})
    elif due:
        output.say(f"{counted(len(due), 'job')} due; talekeeper jobs run {address.session} does them now")
    else:
        output.say(f"no job of {address.session} has failed")


class Telling:
    """How the jobs of a session are told: as they stand on the lineage, and whether somebody is at work."""

    def __init__(self, home: Home, address: Address) -> None:
        self._models = home.services.models
        self._reach = home.story.tree.lineage(address)
        lease = home.story.jobs.lease_name(address)
        self._at_work = home.leases.held(address.workspace, lease)
        self._holder = home.leases.holder(address.workspace, lease)

    def json(self, job: Job) -> dict[str, Any]:
        """A job as `--json` prints it."""
        return {
            "id": job.id,
            "job": f"{job.plugin}/{job.kind}",
            "messages": f"{job.start}..{job.end}" if job.start <= job.end else "none",
            "place": place(job.coordinate),
            "on_lineage": self._on_lineage(job),
            "state": job.state,
            "attempts": job.attempts,
            "why": self._why(job),
            "reason": job.reason,
            "not_before": job.not_before,
            "did_work": job.did_work,
            "covered": job.covered,
            "details": job.details,
            "created": job.created,
            "updated": job.updated,
        }

    def _on_lineage(self, job: Job) -> bool:
        return job.end <= self._reach.get(job.coordinate.branch, -2)

    def _why(self, job: Job) -> str:
        """The reason, and what it waits for."""
        parts = [job.reason]
        if job.state is JobState.RUNNING:
            parts = [f"by {self._holder}" if self._at_work else "its process ended; it is taken up again"]
        elif job.state not in _DONE and not self._on_lineage(job):
            parts.append("waits for a return to its branch")
        elif job.state is JobState.FAILED and job.not_before is None:
            parts.append("given up; talekeeper jobs retry tries it again")
        elif job.state is JobState.PENDING and job.not_before and self._has_its_model(job):
            parts = ["its model is there now; it is done after the next turn, or by talekeeper jobs run"]
        elif job.state not in _DONE and job.not_before:
            parts.append(f"not before {minute(job.not_before)}")
        return "; ".join(part for part in parts if part)

    def _has_its_model(self, job: Job) -> bool:
        slot = lacked(job.details)
        return bool(slot) and self._models.slot(slot) is not None


def _brief(told: Mapping[str, Any]) -> str:
    """Why it stands so, with no more of the reason than its first clause."""
    reason = str(told["reason"])
    return str(told["why"]).replace(reason, reason.partition(_CLAUSE)[0], 1)


def _id_of(home: Home, address: Address, name: str) -> str:
    """By id or the end of it that only one job has: ids begin with the time."""
    found = [job.id for job in home.story.jobs.all(address) if job.id.endswith(name)]
    if len(found) > 1 and name not in found:
        raise ParameterError("id", f"{name!r} may be any of {len(found)} jobs", cure="give more of it")
    return name if len(found) != 1 else found[0]


def _tell_done(options: Common, address: Address, ended: list[dict[str, Any]]) -> None:
    if options.as_json:
        output.emit({"session": address.session, "jobs": ended})
        return
    if not ended:
        output.say(f"nothing to do in {address.session}")
    counts: Mapping[tuple[str, str], int] = Counter((str(one["job"]), str(one["state"])) for one in ended)
    for (job, state), count in counts.items():
        output.say(f"{job}: {count:,} {state}")
    for one in ended:
        if one["state"] not in _DONE:
            output.note(f"{one['job']} on messages {one['messages']}: {one['why']}")

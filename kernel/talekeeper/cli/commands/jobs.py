"""`talekeeper jobs`: the work of plugins outside the turn, its states with their reasons, and running it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from talekeeper.cli import output
from talekeeper.cli.options import Common, command_group, common
from talekeeper.cli.present import minute, place, tell
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
        newest = {job.id for job in jobs[-_SHOWN:]}
        wanted = [job for job in jobs if everything or job.id in newest or job.state not in _DONE]
        shown = _told(home, address, wanted)
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
        ended = _told(home, address, done)
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
        due = _told(home, address, jobs)
    sentence = f"{counted(len(due), 'job')} due; talekeeper jobs run {address.session} does them now"
    nothing = f"no job of {address.session} has failed"
    tell(options, sentence if due else nothing, {"session": address.session, "jobs": due})


def _told(home: Home, address: Address, jobs: Iterable[Job]) -> list[dict[str, Any]]:
    """Jobs as `--json` prints them: as they stand on the lineage, and whether somebody is at work."""
    lease = home.story.jobs.lease_name(address)
    holder = home.leases.holder(address.workspace, lease) if home.leases.held(address.workspace, lease) else None
    reach = home.story.tree.lineage(address)
    on_lineage = [(job, job.end <= reach.get(job.coordinate.branch, -2)) for job in jobs]
    return [
        {
            "id": job.id,
            "job": f"{job.plugin}/{job.kind}",
            "messages": f"{job.start}..{job.end}" if job.start <= job.end else "none",
            "place": place(job.coordinate),
            "on_lineage": here,
            "state": job.state,
            "attempts": job.attempts,
            "why": "; ".join(filter(None, _why(home, job, holder, here=here))),
            "reason": job.reason,
            "not_before": job.not_before,
            "did_work": job.did_work,
            "covered": job.covered,
            "details": job.details,
            "created": job.created,
            "updated": job.updated,
        }
        for job, here in on_lineage
    ]


def _why(home: Home, job: Job, holder: str | None, *, here: bool) -> list[str]:
    """The reason, and what it waits for. `holder` is who is at work, None for nobody."""
    if job.state is JobState.RUNNING:
        return ["its process ended; it is taken up again" if holder is None else f"by {holder}"]
    if job.state in _DONE:
        return [job.reason]
    if not here:
        return [job.reason, "waits for a return to its branch"]
    if job.state is JobState.FAILED and job.not_before is None:
        return [job.reason, "given up; talekeeper jobs retry tries it again"]
    slot = lacked(job.details)
    if job.state is JobState.PENDING and job.not_before and slot and home.services.models.slot(slot) is not None:
        return ["its model is there now; it is done after the next turn, or by talekeeper jobs run"]
    return [job.reason, f"not before {minute(job.not_before)}" if job.not_before else ""]


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

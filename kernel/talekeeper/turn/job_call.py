"""Calls a plugin's function for one job, bound to the job's own place in the story."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from typing import Any

from talekeeper.db import Lease
from talekeeper.errors import PluginError, Skip
from talekeeper.memory_search import Services
from talekeeper.models import Cancel
from talekeeper.plugin_context import Bound, CallContext, CallJob, InJob, Lifetime
from talekeeper.plugin_types import Job as JobFunction
from talekeeper.plugin_types import JobResult, thaw
from talekeeper.plugins import Call, Plugin
from talekeeper.story import Address, Job, Session


class PluginAway(Exception):
    """The job's plugin cannot be called now; its text says why. Nothing is wrong with the job."""


def call_job(services: Services, address: Address, job: Job, lease: Lease, cancel: Cancel | None) -> JobResult:
    """What the function gives, checked.

    Raises `PluginAway`, `Skip` for a job that its plugin does not declare any more, and what the guard does.
    """
    services.host.ready(address)
    session = services.story.session(address)
    plugin = _plugin(services, session, job)
    function: JobFunction = services.host.functions(plugin)["jobs", job.kind]
    at_end = services.story.message_at(address, job.coordinate)
    seat = InJob(job, 0 if at_end is None else at_end.turn, lease)
    life = Lifetime(plugin.id, cancel=cancel)
    bound = Bound(services, plugin.declared, session, life, at=job.coordinate, job=seat)
    context = CallContext(bound, plugin)
    call = Call(plugin.id, f"job {job.kind}", services.host.guard.deadlines.job, away=life.away)
    result: JobResult = services.host.guard.call(
        call, lambda: _result(plugin.id, function, context, CallJob(bound, seat)), context
    )
    return result


def kinds(plugin: Plugin, *on: str) -> list[str]:
    """The jobs a plugin declares to be started so, in the order of its manifest."""
    return [str(entry["id"]) for entry in plugin.declared.contributes.get("jobs", ()) if not on or entry["on"] in on]


def _plugin(services: Services, session: Session, job: Job) -> Plugin:
    plugin = services.host.roster(session=session).by_id.get(job.plugin)
    if plugin is None:
        raise PluginAway(f"plugin {job.plugin!r} is not installed")
    if not plugin.works or plugin.suspended:
        raise PluginAway(f"plugin {plugin.id!r} is {plugin.state}: {plugin.reason}")
    if job.kind not in kinds(plugin):
        raise Skip(f"plugin {plugin.id!r} does not declare this job any more")
    return plugin


def _result(plugin: str, function: JobFunction, context: CallContext, view: CallJob) -> Any:
    # The guard awaits what a coroutine function gives, and then has the result.
    value = function(context, view)
    depth = view.coordinate.depth
    return _later(plugin, value, depth) if inspect.isawaitable(value) else _checked(plugin, value, depth)


async def _later(plugin: str, value: Awaitable[JobResult], depth: int) -> JobResult:
    return _checked(plugin, await value, depth)


def _checked(plugin: str, given: object, depth: int) -> JobResult:
    """The result in kinds of its own; raises `PluginError` for what is none of a job that ends at `depth`."""
    if not isinstance(given, JobResult):
        what = f"it gives back {type(given).__name__}, where a JobResult is expected"
        raise PluginError(what, where=plugin, plugin=plugin)
    covered: object = given.covered
    match covered:
        case None:
            kept = None
        case (int() as first, int() as last) if 0 <= first <= last <= depth:
            kept = first, last
        case _:
            what = f"it says it covers {covered!r}, which is no range up to depth {depth}"
            raise PluginError(what, where=plugin, plugin=plugin)
    try:
        details: dict[str, Any] = thaw(dict(given.details))
    except (TypeError, ValueError) as error:
        raise PluginError(f"the details it gives are refused: {error}", where=plugin, plugin=plugin) from error
    return JobResult(bool(given.did_work), kept, str(given.skipped), details)

"""`[[contributes.jobs]]`: work outside the turn."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from talekeeper.manifest.codes import contributions as codes
from talekeeper.manifest.diagnostic import Finding
from talekeeper.manifest.points.point import Point, Scene, kept_in
from talekeeper.manifest.points.shared import names_once, needs_code
from talekeeper.text import quoted

_WHEN = ("cron", "time", "weekday", "tz")
_CRON_FIELDS = 5


def _schedules(scene: Scene) -> Iterator[Finding]:
    for entry in scene.entries:
        on = entry.text("on")
        if on == "schedule" and "cron" not in entry and "time" not in entry:
            message = "a schedule without a time: give cron, or time with or without weekday"
            yield Finding(codes.NO_TIME, entry.at("on"), message)
        for key in ("time", "weekday"):
            if on == "schedule" and key in entry and "cron" in entry:
                yield Finding(codes.TWO_TIMES, entry.at(key), f"cron says when already, {key} contradicts it", on="key")
        for key in _WHEN:
            if on in {"turn-committed", "manual"} and key in entry:
                message = f'{key} means nothing for a job with on = "{on}"'
                yield Finding(codes.TIME_UNUSED, entry.at(key), message, on="key")


def _times(scene: Scene) -> Iterator[Finding]:
    for entry in scene.entries:
        for key, fault in (("cron", cron_fault), ("tz", _zone_fault)):
            value = entry.text(key)
            reason = fault(value) if value else ""
            if reason:
                yield Finding(codes.BAD_TIME, entry.at(key), f"{key} is {quoted(value)}: {reason}")


def cron_fault(expression: str) -> str:
    """Why a cron expression is refused, "" when it has a next run."""
    from cronsim import CronSim, CronSimError  # noqa: PLC0415 - few manifests have a schedule

    if len(expression.split()) != _CRON_FIELDS:
        return f"expected {_CRON_FIELDS} fields (minute, hour, day, month, weekday)"
    try:
        # From a leap year's first day the next run of any expression that has one is less than 50 years away.
        next(CronSim(expression, datetime(2000, 1, 1, tzinfo=UTC)))
    except CronSimError as error:
        return str(error).lower()
    except StopIteration:
        return "it never comes"
    return ""


def _zone_fault(name: str) -> str:
    import zoneinfo  # noqa: PLC0415 - as above

    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return 'expected a name of the IANA time zone database, such as "Europe/London"'
    return ""


POINT = Point(
    name="jobs",
    about="Work outside the turn.",
    noun="job",
    shape=kept_in("talekeeper.manifest.model.jobs"),
    rules=(names_once("id"), needs_code, _schedules, _times),
    named_by="id",
    code=True,
)

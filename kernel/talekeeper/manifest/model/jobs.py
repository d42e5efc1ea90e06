"""The shape of `[[contributes.jobs]]`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from talekeeper.manifest.model.entry import Entry
from talekeeper.manifest.model.texts import Line, LocalName, TimeOfDay


class Job(Entry):
    """Work the plugin's code does outside a turn: after one, at set times, or when asked."""

    id: Annotated[LocalName, Field(description="The name under which the code registers the job.")]
    on: Annotated[Literal["turn-committed", "schedule", "manual"], Field(description="What starts it.")]
    cron: Annotated[Line | None, Field(description="Five cron fields: minute, hour, day, month, weekday.")] = None
    time: Annotated[TimeOfDay | None, Field(description="HH:MM; every day, or on the weekday.")] = None
    weekday: Annotated[
        Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] | None,
        Field(description="With time: once a week."),
    ] = None
    tz: Annotated[Line | None, Field(description="A name of the IANA time zone database. Absent: the workspace's.")] = (
        None
    )


SHAPE = list[Job]

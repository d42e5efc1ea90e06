"""`[[contributes.commands]]`: what people may run, by hand or from a form."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from talekeeper.manifest.names import FilePath, LocalName
from talekeeper.manifest.points.point import Entry, Point
from talekeeper.manifest.points.shared import names_once, needs_code, schemas_hold


class Command(Entry):
    """Something people may run: `talekeeper run <plugin>/<id>`."""

    id: Annotated[LocalName, Field(description="What people type after the plugin's id.")]
    parameters: Annotated[
        FilePath | None, Field(description="A file in the package: JSON Schema of the arguments. Absent: no arguments.")
    ] = None


POINT = Point(
    name="commands",
    about="What people may run, from the command line or a form.",
    noun="command",
    shape=list[Command],
    rules=(names_once("id"), needs_code, schemas_hold("parameters")),
    named_by="id",
    code=True,
    schema_key="parameters",
)

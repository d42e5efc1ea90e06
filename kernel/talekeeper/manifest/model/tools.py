"""The shape of `[[contributes.tools]]`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from talekeeper.manifest.model.entry import Entry
from talekeeper.manifest.model.texts import FilePath, Prose, ToolName


class Tool(Entry):
    """A function a model may call."""

    name: Annotated[ToolName, Field(description="What the model calls.")]
    description: Annotated[Prose, Field(description="Tells the model what the tool does and when to use it.")]
    parameters: Annotated[
        FilePath | None, Field(description="A file in the package: JSON Schema of the arguments. Absent: no arguments.")
    ] = None
    effects: Annotated[
        Literal["none", "write", "external"],
        Field(description="none, write (records of its own), or external, which asks for approval in a tainted turn."),
    ] = "none"


SHAPE = list[Tool]

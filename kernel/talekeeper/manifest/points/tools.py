"""`[[contributes.tools]]`: functions the narrator's model may call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from talekeeper.manifest.codes import contributions, style
from talekeeper.manifest.diagnostic import Finding
from talekeeper.manifest.names import FilePath, Prose, ToolName, tool_key
from talekeeper.manifest.points.point import Entry, Point, Scene
from talekeeper.manifest.points.shared import names_once, needs_code, schemas_hold

_KERNEL_TOOLS = frozenset(map(tool_key, ("memory-search",)))
_SAYS_SOMETHING = 20


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


def _kernel_names(scene: Scene) -> Iterator[Finding]:
    for entry in scene.entries:
        name = entry.text("name")
        if name is not None and tool_key(name) in _KERNEL_TOOLS:
            message = f"the tool name {name} is taken by the kernel"
            yield Finding(contributions.KERNEL_TOOL, entry.at("name"), message)


def _descriptions(scene: Scene) -> Iterator[Finding]:
    for entry in scene.entries:
        description = entry.text("description")
        if description and len(description.strip()) < _SAYS_SOMETHING:
            message = "the description is all a model has to decide by; say what the tool does and when to use it"
            yield Finding(style.THIN_DESCRIPTION, entry.at("description"), message)


POINT = Point(
    name="tools",
    about="Functions the narrator's model may call.",
    noun="tool",
    shape=list[Tool],
    rules=(names_once("name", tool_key), needs_code, schemas_hold("parameters"), _kernel_names, _descriptions),
    named_by="name",
    code=True,
    schema_key="parameters",
)

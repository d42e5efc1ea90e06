"""`[[contributes.tools]]`: functions the narrator's model may call."""

from __future__ import annotations

from collections.abc import Iterator

from talekeeper.manifest.codes import contributions, style
from talekeeper.manifest.diagnostic import Finding
from talekeeper.manifest.names import tool_key
from talekeeper.manifest.points.point import Point, Scene, kept_in
from talekeeper.manifest.points.shared import names_once, needs_code, schemas_hold

_KERNEL_TOOLS = frozenset(map(tool_key, ("memory-search",)))
_SAYS_SOMETHING = 20


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
    shape=kept_in("talekeeper.manifest.model.tools"),
    rules=(names_once("name", tool_key), needs_code, schemas_hold("parameters"), _kernel_names, _descriptions),
    named_by="name",
    code=True,
    schema_key="parameters",
)

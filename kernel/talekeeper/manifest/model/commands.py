"""The shape of `[[contributes.commands]]`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from talekeeper.manifest.model.entry import Entry
from talekeeper.manifest.model.texts import FilePath, LocalName


class Command(Entry):
    """Something people may run: `talekeeper run <plugin>/<id>`."""

    id: Annotated[LocalName, Field(description="What people type after the plugin's id.")]
    parameters: Annotated[
        FilePath | None, Field(description="A file in the package: JSON Schema of the arguments. Absent: no arguments.")
    ] = None


SHAPE = list[Command]

"""The shape of `[[contributes.importers]]`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from talekeeper.manifest.model.entry import Entry
from talekeeper.manifest.model.texts import FilePath, LocalName


class Importer(Entry):
    """A kind of file the plugin reads into its own namespaces."""

    id: Annotated[LocalName, Field(description="The name under which the code registers the importer.")]
    match: Annotated[
        list[FilePath], Field(min_length=1, max_length=50, description="File name patterns, such as *.json.")
    ]


SHAPE = list[Importer]

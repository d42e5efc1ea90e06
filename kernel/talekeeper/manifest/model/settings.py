"""The shape of `[[contributes.settings]]`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from talekeeper.manifest.model.entry import Entry
from talekeeper.manifest.model.texts import Line, Prose, SettingKey

_Text = Annotated[str, Field(max_length=2000)]
_Value = bool | int | float | _Text


class Setting(Entry):
    """One setting of the plugin, resolved home < workspace < session."""

    key: Annotated[SettingKey, Field(description="What the code asks for.")]
    type: Annotated[
        Literal["boolean", "integer", "number", "string"], Field(description="What kind of value it takes.")
    ]
    default: Annotated[_Value, Field(description="The value where nobody has set one.")]
    label: Annotated[Line, Field(description="What the settings page calls it.")]
    description: Annotated[Prose | None, Field(description="What it changes, and why its default is what it is.")] = (
        None
    )
    min: Annotated[float | None, Field(description="The lowest number allowed.")] = None
    max: Annotated[float | None, Field(description="The highest number allowed.")] = None
    choices: Annotated[
        list[_Value] | None, Field(min_length=1, max_length=100, description="The only values allowed.")
    ] = None


SHAPE = list[Setting]

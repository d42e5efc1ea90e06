"""What every table of the model is made of."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, BeforeValidator, ConfigDict


def _whole(value: Any) -> Any:
    # JSON Schema takes 1.0 for an integer, so the model has to as well.
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)
"""Last in an annotation of `int`: a whole number, however it is written."""


class Entry(BaseModel):
    """A table of the manifest: keys are spelled with hyphens, unknown ones and conversions are refused."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        defer_build=True,
        frozen=True,
        allow_inf_nan=False,
        alias_generator=lambda name: name.replace("_", "-"),
    )

"""Which keys a table of the manifest may have and what each of them means, asked of the model by path."""

from __future__ import annotations

from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from talekeeper.config import KeyPath


class Keys:
    """The keys of the model's tables."""

    def __init__(self, model: type[BaseModel]) -> None:
        self._model = model

    def of(self, path: KeyPath) -> dict[str, str]:
        """Key → meaning for the table at a path; empty where names are free or nothing is known."""
        here: Any = self._model
        for step in path:
            here = _inside(_bare(here), step)
        table = _bare(here)
        if not _is_table(table):
            return {}
        return {it.alias or name: it.description or "" for name, it in table.model_fields.items()}


def _is_table(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _inside(annotation: Any, step: str | int) -> Any:
    if _is_table(annotation):
        fields = annotation.model_fields
        return next((it.annotation for name, it in fields.items() if (it.alias or name) == step), None)
    arguments = get_args(annotation)
    return arguments[-1] if get_origin(annotation) in {list, dict} else None


def _bare(annotation: Any) -> Any:
    """Without `Annotated` and `| None`."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        elif get_origin(annotation) in {Union, UnionType}:
            branches = [it for it in get_args(annotation) if it is not type(None)]
            if len(branches) != 1:
                return None
            annotation = branches[0]
        else:
            return annotation

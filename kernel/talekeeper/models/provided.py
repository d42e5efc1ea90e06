"""An embedding provider that is no endpoint: `provider = "local"`, or a plugin's, under `[models.embedding]`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from talekeeper.errors import ParameterError

if TYPE_CHECKING:
    from talekeeper.models.tables import SlotTable

LOCAL = "local"
"""The encoder of the `semantic` extra, which runs in this process."""

BATCH = 64
_ITS_KEYS = {"provider", "model", "batch", "store", "query_prefix", "passage_prefix"}


@dataclass(frozen=True, slots=True)
class Provided:
    """`provider` is `local` or `plugin/name`; `model` is one of those it lists, its first where empty.

    `batch` is the most texts it is given at once. `store` is a plugin's vector store, empty for the home's database.
    `query_prefix` and `passage_prefix` are as in a slot.
    """

    provider: str
    model: str = ""
    batch: int = BATCH
    store: str = ""
    query_prefix: str = ""
    passage_prefix: str = ""


def provided(table: SlotTable, place: str) -> Provided:
    """What a table with a `provider` says; raises `ParameterError` for what does not go with one."""
    given = set(table.model_dump(exclude_none=True, by_alias=True))
    if others := sorted(given - _ITS_KEYS):
        cure = "a provider has no endpoint: keep provider, model, batch, store and prefixes, or take provider away"
        raise ParameterError(f"{place}.{others[0]}", "stands beside provider", cure=cure)
    return Provided(
        table.provider or LOCAL,
        table.model or "",
        table.batch or BATCH,
        table.store or "",
        table.query_prefix or "",
        table.passage_prefix or "",
    )

"""Which memories and summaries count at a place of the story, and every record of a namespace page by page.

A memory or summary is stored at the last message it tells, so that a retry does not pay for it twice. It counts from
the turn whose job reached those messages: the prompt did not have it before that turn, nor has it after an undo.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from talekeeper.api import ROOT, NamespaceData, PluginContext, Record

_MADE_BY = {"bank": "memories", "summaries": "summary"}
_PAGE = 1_000


def every(data: NamespaceData) -> Iterator[Record]:
    """All live records, oldest first, read page by page."""
    after: str | None = None
    while True:
        found = data.list(after=after, limit=_PAGE)
        yield from found
        if len(found) < _PAGE:
            return
        after = found[-1].key


def visible(ctx: PluginContext, namespace: str, records: Iterable[Record]) -> Iterator[Record]:
    """Those of the records that count here, in the same order.

    A person's version holds on every branch; when it changes what was made from messages, it follows them.
    """
    settled = ctx.history.settled(_MADE_BY[namespace])
    starts = [start for start, _ in settled]
    for record in records:
        source: Sequence[str] = record.value.get("source", ())
        if not source:
            yield record
        elif record.coordinate == ROOT:
            if ctx.history.message(source[-1]) is not None:
                yield record
        else:
            last = int(record.value["to"])
            at = bisect_right(starts, last) - 1
            if at >= 0 and last <= settled[at][1]:
                yield record

"""Which memories and summaries count at a place of the story.

Each stands at the last message it tells of, so that a retry does not pay for it twice. It counts from the turn on whose
job came to its stretch: before that turn the prompt did not have it, and after an undo it has it no more.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from talekeeper.api import ROOT, PluginContext, Record

_MADE_BY = {"bank": "memories", "summaries": "summary"}


def standing(ctx: PluginContext, namespace: str, records: Iterable[Record]) -> Iterator[Record]:
    """Those of the records that count here, in the same order.

    A person's version holds on every branch; when it changes what was made from messages, it goes where they are.
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

"""Nobody is kept from writing while a model is asked: not in a turn, not in any job, through a whole session."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from talekeeper.testing import Recorded, Step, call_tool, say

Make = Callable[..., Any]


def test_another_process_can_write_during_every_call_of_a_whole_session(make_story: Make, tmp_path: Path) -> None:
    wrote: Counter[str] = Counter()

    def write(kind: str) -> None:
        (store,) = tmp_path.rglob("talekeeper.sqlite")
        with closing(sqlite3.connect(store, timeout=1.0, isolation_level=None)) as neighbour:
            neighbour.execute("BEGIN IMMEDIATE")
            neighbour.execute("UPDATE workspace SET title = title")
            neighbour.execute("COMMIT")
        wrote[kind] += 1

    def meanwhile(kind: str, said: Any) -> Callable[[Recorded], Any]:
        def answer(_: Recorded) -> Any:
            write(kind)
            return said

        return answer

    story = make_story(
        extract=meanwhile("extract", {"scene": "Very long. " * 300, "new_facts": ["Mara hid the key."]}),
        shorten=meanwhile("shorten", "The inn."),
        memory=meanwhile("memory", "Mara hid the key."),
        summary=meanwhile("summary", "So far."),
    )

    def narrator(request: Recorded) -> Step:
        write("narrator")
        asked = request.body["messages"][-1]["role"] != "tool"
        return call_tool("memory-get-block", {"label": "scene"}) if asked else say("It rains.")

    for turn in range(9):
        story.host.turn(f"I wait, {turn}.", narrator=narrator)
        if turn == 5:
            story.host.retry(narrator=narrator)
        story.work()

    assert set(wrote) == {"narrator", "extract", "shorten", "memory", "summary"}
    assert wrote["narrator"] == 20
    assert story.scribe.asked == {kind: count for kind, count in wrote.items() if kind != "narrator"}

"""Tells one turn in a process of its own: `telling.py HOME PORT TEXT`, which a test may kill at any moment.

Prints `begun` with the first piece of text, and in the end `told`, or the sentence of what went wrong.
"""

from __future__ import annotations

import sys
from pathlib import Path

from talekeeper.errors import TalekeeperError
from talekeeper.home import Home
from talekeeper.models import NARRATOR, BaseUrl, Models, Slot
from talekeeper.story import Address
from talekeeper.turn import Narrator


def main(home: str, port: str, text: str) -> None:
    slot = Slot(NARRATOR, BaseUrl("http", "127.0.0.1", int(port), "/v1"), model="m", network="loopback", retries=0)
    begun: list[str] = []

    def on_text(piece: str) -> None:
        if not begun:
            print("begun", flush=True)  # noqa: T201 - the test reads it
        begun.append(piece)

    with Home.open(Path(home), no_plugins="") as opened:
        narrator = Narrator(opened.services, Models("file", {NARRATOR: slot}), opened.leases, wait=0.1)
        try:
            narrator.turn(Address("w", "s"), text, on_text=on_text)
        except TalekeeperError as fault:
            print(type(fault).__name__, fault, flush=True)  # noqa: T201 - as above
        else:
            print("told", flush=True)  # noqa: T201 - as above


main(*sys.argv[1:])

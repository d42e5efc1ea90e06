"""Files in memory and what the readers make of them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from talekeeper.exchange import Entry, Notes, Source
from talekeeper.exchange.detect import READERS

MakeSource = Callable[[str | bytes], Source]


@dataclass
class Reading:
    """All entries of a file and what was left out."""

    entries: list[Entry]
    notes: Notes


ReadAll = Callable[..., Reading]


def _source(content: str | bytes) -> Source:
    raw = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    return Source(io.BytesIO(raw), "chat.txt")


@pytest.fixture
def source() -> MakeSource:
    return _source


@pytest.fixture
def read() -> ReadAll:
    def read_all(name: str, content: str | bytes, player: str | None = None) -> Reading:
        notes = Notes()
        return Reading(list(READERS[name](_source(content), notes, player)), notes)

    return read_all


@pytest.fixture
def lines_of() -> Callable[..., str]:
    def join(*rows: dict[str, Any]) -> str:
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)

    return join

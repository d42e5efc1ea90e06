"""A process that plays for long does not grow."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest

TURNS = 1_000
STATM = Path("/proc/self/statm")
PAGE = 4_096


def held() -> int:
    """Bytes the process has in memory."""
    gc.collect()
    return int(STATM.read_text().split()[1]) * PAGE


@pytest.mark.slow
@pytest.mark.skipif(not STATM.exists(), reason="only Linux tells what a process holds")
def test_memory_is_flat_over_a_thousand_turns(story: Any) -> None:
    """What is held after two hundred turns is held after a thousand, but for what grows with the index of the story."""
    before = 0
    for turn in range(1, TURNS + 1):
        story.play(f"I ask Mara about the brass key, {turn}.", reply="Mara carried the key to the mill and left it.")
        story.scribe.requests.clear()
        if turn == TURNS // 5:
            before = held()

    assert held() - before < 16_000_000

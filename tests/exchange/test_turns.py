"""Who plays is known at a session's first message, and the file is read ahead no further than that takes."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.exchange import Entry, Notes, Source
from talekeeper.exchange.formats.jsonl import read_jsonl
from talekeeper.exchange.importer import Turns

PLAYER, NARRATOR = "user", "Mira"


def file_of(spoken: Sequence[tuple[str, str]]) -> Source:
    rows = [{"session": session, "speaker": speaker, "text": "…"} for session, speaker in spoken]
    return Source(io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode()), "f")


def turns_of(source: Source) -> list[int | None]:
    turns = Turns(source.stream, read_jsonl(source, Notes()))
    return [turns.of(entry) for entry in read_jsonl(source, Notes())]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([PLAYER, NARRATOR])), max_size=12))
def test_turns_are_as_if_the_whole_file_had_been_read_before(spoken: list[tuple[str, str]]) -> None:
    sessions = [session for session, _ in spoken]
    played = {session for session, speaker in spoken if speaker == PLAYER}
    places = [sessions[: place + 1].count(session) for place, session in enumerate(sessions)]

    turns = turns_of(file_of(spoken))

    assert turns == [None if session in played else place for session, place in zip(sessions, places, strict=True)]


@pytest.mark.parametrize(
    ("speakers", "read_ahead"),
    [
        pytest.param([NARRATOR, PLAYER, NARRATOR, NARRATOR], [1, 2], id="to-the-next-player"),
        pytest.param([NARRATOR, NARRATOR, NARRATOR], [1, 2, 3], id="once-through-where-nobody-plays"),
    ],
)
def test_the_file_is_read_ahead_no_further_than_it_takes(speakers: list[str], read_ahead: list[int]) -> None:
    source = file_of([("a", speaker) for speaker in speakers])
    read: list[int] = []

    def ahead() -> Iterator[Entry]:
        for entry in read_jsonl(source, Notes()):
            read.append(entry.line)
            yield entry

    turns = Turns(source.stream, ahead())
    for entry in read_jsonl(source, Notes()):
        turns.of(entry)

    assert read == read_ahead
    assert turns.has_player == (PLAYER in speakers)

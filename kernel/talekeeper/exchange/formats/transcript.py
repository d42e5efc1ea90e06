"""Plain transcripts: `Name: text`, and lines that go on with what was being said.

A speaker's line begins at the margin with a name of at most four words and forty characters, then a colon. So that
"He said: no" stays narration, a name of several words has capitals (small words like "the" or "von" apart) or a script
that has none. `[time] Name: text` and `**Name:** text` are read as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from talekeeper.exchange.source import LONGEST_LINE, Entry, Line, Notes, Source, role_of
from talekeeper.story import Draft

_LINE = re.compile(
    r"(?:\[(?P<time>[^\[\]]{4,40})\]\s*)?"
    r"(?:\*\*)?(?P<name>[^\s:：*\[\]][^:：*\[\]]{0,39}?)(?:\*\*)?\s*(?P<colon>[:：])(?:\*\*)?(?P<text>.*)",
)
_NO_NAME = re.compile(r"[!?,;\"“”«»「」『』。，！？；…<>{}|/\\#=]")
_SMALL_WORDS = frozenset({"the", "of", "de", "du", "des", "la", "le", "von", "van", "der", "den", "and", "al", "bin"})
_MOST_WORDS = 4


def speaker_line(text: str, known: frozenset[str] = frozenset()) -> tuple[str, str | None, str] | None:
    """(name, time, what is said) when a line opens a message. Names in `known` (casefolded) always do."""
    found = _LINE.fullmatch(text)
    if found is None:
        return None
    name, said = found["name"].strip(), found["text"]
    # "http://…" and "12:30" have a colon too, but nothing between it and what follows.
    glued = found["colon"] == ":" and said != "" and said[0].isascii() and not said[0].isspace()
    if not glued and (name.casefold() in known or _is_name(name)):
        return name, found["time"], said.strip()
    return None


def _is_name(name: str) -> bool:
    words = name.split()
    if len(words) > _MOST_WORDS or _NO_NAME.search(name) or not any(c.isalpha() for c in name):
        return False
    if len(words) == 1:
        return True
    return not words[0].islower() and all(word in _SMALL_WORDS or not word[0].islower() for word in words)


@dataclass(slots=True)
class _Open:
    """The message being read."""

    line: int
    speaker: str = ""
    time: str | None = None
    lines: list[str] = field(default_factory=list[str])
    size: int = 0
    end: int = 0

    def add(self, text: str, line: Line) -> None:
        self.lines.append(text)
        self.size += len(text)
        self.end = line.end

    def text(self) -> str:
        return "\n".join(self.lines).strip()


def read_transcript(source: Source, notes: Notes, player: str | None = None) -> Iterator[Entry]:
    """Entries in file order, known by their place (`#1`, …). What comes before the first speaker is narration."""
    known = frozenset({player.casefold()} if player else ())
    place = 0
    for message in _messages(source, known):
        place += 1
        if not message.text():
            notes.take("blank text", message.line)
            continue
        draft = Draft(
            role=role_of(message.speaker, player),
            text=message.text(),
            speaker=message.speaker,
            ref=f"#{place}",
            time=message.time,
        )
        yield Entry(message.line, message.end, draft)


def _messages(source: Source, known: frozenset[str]) -> Iterator[_Open]:
    message: _Open | None = None
    for line in source.lines():
        source.check(line.text, "text", line.number)
        opened = speaker_line(line.text, known)
        if opened is not None:
            if message is not None:
                yield message
            message = _Open(line.number, opened[0], opened[1])
            message.add(opened[2], line)
        elif message is not None or line.text.strip():
            message = message or _Open(line.number)
            message.add(line.text.rstrip(), line)
            if message.size > LONGEST_LINE:
                source.fail(line.number, "one message is longer than 64 MiB", "does a line read `Name: text`?")
    if message is not None:
        yield message

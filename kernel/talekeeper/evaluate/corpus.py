"""A set's corpus in a throw-away home: messages through the import, records through the store's own door."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from talekeeper.evaluate.sets import QuestionSet
from talekeeper.exchange import Notes, Options, Source, import_file, opened, read_jsonl
from talekeeper.home import Home
from talekeeper.manifest import Namespace, SearchTable
from talekeeper.story import Address, Draft, Scope

RECORDS = Namespace(
    plugin="_eval",
    name="records",
    search=SearchTable(text=("text",), speaker="speaker", time="time"),
)
"""A namespace of the kernel's own, where a set's lines are records."""

_BATCH = 100


def load(home: Home, question_set: QuestionSet) -> None:
    """Fills the workspace named after the set; raises `ImportFileError` naming the line that cannot be read."""
    if question_set.unit == "message":
        _load_messages(home, question_set)
    else:
        _load_records(home, question_set)
    home.story.maintain()


def corpus_ids(question_set: QuestionSet) -> set[str]:
    """The ids of the lines that can be found; those that hold blank text cannot."""
    return {draft.ref for _, draft in _entries(question_set.corpus) if draft.ref}


def _load_messages(home: Home, question_set: QuestionSet) -> None:
    with opened(str(question_set.corpus)) as stream:
        source = Source(stream, str(question_set.corpus))
        report = import_file(home.story, source, "jsonl", Options(workspace_of(question_set)), lambda _: None)
    if report.error is not None:
        raise report.error


def _load_records(home: Home, question_set: QuestionSet) -> None:
    batch: list[tuple[str, Draft]] = []
    for entry in _entries(question_set.corpus):
        batch.append(entry)
        if len(batch) >= _BATCH:
            _write(home, question_set, batch)
            batch = []
    _write(home, question_set, batch)


def _entries(path: Path) -> Iterator[tuple[str, Draft]]:
    """(session, line) in file order."""
    with opened(str(path)) as stream:
        for entry in read_jsonl(Source(stream, str(path)), Notes()):
            yield entry.session or path.parent.name, entry.draft


def _write(home: Home, question_set: QuestionSet, batch: Sequence[tuple[str, Draft]]) -> None:
    story, workspace = home.story, workspace_of(question_set)
    there = {session.id for session in story.sessions(workspace)}
    for name in dict.fromkeys(session for session, _ in batch):
        if name not in there:
            story.create_session(workspace, session_id=name)

    def put(tx: Any) -> None:
        for name, draft in batch:
            value = {"text": draft.text, "speaker": draft.speaker, "time": draft.time or ""}
            story.records.put(RECORDS, Scope(workspace, session=name), draft.ref or "", value, person=True, tx=tx)

    story.write(put, name="load a set's records")


def workspace_of(question_set: QuestionSet) -> str:
    """Sets share a home, each in a workspace of its own."""
    letters = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in question_set.name.lower())
    return f"set-{letters}"[:63]


def refs_of(home: Home, address: Address, ids: Sequence[str]) -> dict[str, str]:
    """The corpus ids of messages found."""
    found = home.story.messages_by_id(address, ids)
    return {name: message.ref or name for name, message in found.items()}

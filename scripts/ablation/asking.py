"""Loads question sets straight into one index, once for each way of making terms, and asks them with any parameters."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from talekeeper.clock import SystemClock
from talekeeper.db import Database, Tx
from talekeeper.evaluate import DEPTH, Question, QuestionSet, score_one
from talekeeper.exchange import Notes, Source, read_jsonl
from talekeeper.search import Index, Kind, PartScope, Passage, Query, features_of_message, maintain_index
from talekeeper.search import Source as Wanted
from talekeeper.story import Draft
from talekeeper.text import digest, query_terms

from ablation.variants import BASE, Variant

Rows = list[dict[str, float]]
_RECORDS = ("_eval", "records")
_DEEPEST = 2**31 - 1


class Shelf:
    """All sets in one database, a workspace for each set and way of making terms."""

    def __init__(self, folder: Path, sets: Sequence[QuestionSet]) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        self._db = Database.open(folder / "ablation.sqlite", clock=SystemClock(), synchronous="OFF")
        self._sets = sets
        self._drafts = {one.name: _drafts(one) for one in sets}
        self._known: dict[tuple[object, ...], dict[str, float]] = {}

    def measure(self, variant: Variant) -> dict[str, Rows]:
        """Set → the metrics of each of its questions."""
        with _applied(variant):
            return {one.name: self._measure_set(variant, one) for one in self._sets}

    def _measure_set(self, variant: Variant, one: QuestionSet) -> Rows:
        questions = [question for question in one.questions if question.evidence]
        if variant.by_rank_bm25:
            return list(self._by_rank_bm25(one, questions))
        changed = any(
            variant.passage(draft).counts != counts for draft, counts in zip(*self._drafts[one.name], strict=True)
        )
        workspace = f"{variant.name if changed else BASE.name} {one.name}"
        index = Index(params=variant.params)
        self._db.write(lambda tx: self._load(tx, index, workspace, variant, one), name="load a set")
        maintain_index(self._db)
        return [self._ask(variant, index, workspace, one, question) for question in questions]

    def _load(self, tx: Tx, index: Index, workspace: str, variant: Variant, one: QuestionSet) -> None:
        drafts = self._drafts[one.name][0]
        if index.find_part(tx, workspace, _session(one, drafts[0]), "") is not None:
            return
        parts: dict[str, int] = {}
        for depth, draft in enumerate(drafts):
            session = _session(one, draft)
            if session not in parts:
                parts[session] = index.part_for(tx, workspace, session, "")
            index.add(tx, parts[session], _passage(one, draft, variant, depth))

    def _ask(
        self, variant: Variant, index: Index, workspace: str, one: QuestionSet, question: Question
    ) -> dict[str, float]:
        key = (workspace, question.id, *_what_matters(variant, one, question))
        if key not in self._known:
            self._known[key] = score_one(
                question.evidence, self._db.read(lambda tx: self._ranked(tx, variant, index, workspace, one, question))
            )
        return self._known[key]

    def _ranked(
        self, tx: Tx, variant: Variant, index: Index, workspace: str, one: QuestionSet, question: Question
    ) -> list[str]:
        part = index.part_for(tx, workspace, question.session, "")
        source = Wanted() if one.unit == "message" else Wanted(*_RECORDS)
        scope = PartScope(part, {0: _DEEPEST})
        query = Query((question.text,), (scope,), (source,), depth=DEPTH, neighbours=variant.neighbours)
        hits = index.search(tx, query).hits
        return [key for hit in hits for key in (hit.key, *(other for other, _ in hit.also))]

    def _by_rank_bm25(self, one: QuestionSet, questions: Sequence[Question]) -> Iterator[dict[str, float]]:
        """As its README has it: texts alone, split at blanks, its own constants."""
        from rank_bm25 import BM25Okapi  # noqa: PLC0415 -- an extra, which no other variant needs

        sessions: dict[str, list[Draft]] = {}
        for draft in self._drafts[one.name][0]:
            sessions.setdefault(_session(one, draft), []).append(draft)
        engines = {name: BM25Okapi([draft.text.split() for draft in drafts]) for name, drafts in sessions.items()}
        for question in questions:
            scores = engines[question.session].get_scores(question.text.split())
            best = sorted(range(len(scores)), key=lambda at: -scores[at])[:DEPTH]
            drafts = sessions[question.session]
            yield score_one(question.evidence, [drafts[at].ref or "" for at in best if scores[at] != 0])


def _what_matters(variant: Variant, one: QuestionSet, question: Question) -> tuple[object, ...]:
    """What a ranked list depends on; equal ones give the same list, since records have no second stage."""
    params = variant.params
    terms = params.query_terms(question.text)
    paired = tuple(params.paired_characters(question.text, terms))
    if one.unit == "record":
        return terms, paired, params.backoff, params.backoff_share, params.k1, params.b_records, params.fold
    usual = BASE.params
    constants = replace(
        params,
        query_terms=usual.query_terms,
        everyday_terms=usual.everyday_terms,
        paired_characters=usual.paired_characters,
    )
    return terms, paired, params.everyday_terms(question.text), constants, variant.neighbours


def _drafts(one: QuestionSet) -> tuple[list[Draft], list[Mapping[str, int]]]:
    """With the terms each has in the base."""
    with one.corpus.open("rb") as stream:
        entries = list(read_jsonl(Source(stream, str(one.corpus)), Notes()))
    drafts = [entry.draft for entry in entries]
    _SESSIONS.update({(one.name, entry.draft.ref or ""): entry.session or one.name for entry in entries})
    return drafts, [BASE.passage(draft).counts for draft in drafts]


_SESSIONS: dict[tuple[str, str], str] = {}


def _session(one: QuestionSet, draft: Draft) -> str:
    return _SESSIONS[one.name, draft.ref or ""]


def _passage(one: QuestionSet, draft: Draft, variant: Variant, depth: int) -> Passage:
    is_message = one.unit == "message"
    return Passage(
        kind=Kind.MESSAGE if is_message else Kind.RECORD,
        plugin="" if is_message else _RECORDS[0],
        namespace="" if is_message else _RECORDS[1],
        key=draft.ref or "",
        branch=0,
        depth=depth if is_message else -1,
        turn=depth,
        terms=variant.passage(draft),
        digest=digest(draft.text),
        features=features_of_message(draft.text, draft.speaker, is_player=draft.role == "player") if is_message else 0,
    )


@contextmanager
def _applied(variant: Variant) -> Generator[None]:
    """The parts of the tokeniser that a variant replaces, and no memory of what they gave before."""
    tokens = sys.modules[query_terms.__module__]
    with ExitStack() as stack:
        for name, value in variant.replaced.items():
            stack.enter_context(patch.object(tokens, name, value))
        stack.enter_context(patch.object(tokens, "_known", type(tokens.__dict__["_known"])()))
        for name, value in [*vars(tokens).items()]:
            if hasattr(value, "cache_clear"):
                stack.enter_context(patch.object(tokens, name, value.__wrapped__))
        yield

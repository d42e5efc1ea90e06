"""Measures search on the sets written for this project and writes tests/evaluate/quality.json.

Run it after a change that moves the figures on purpose, and look at the difference before you commit it. The sets are
the two demo stories, tests/fixtures/seed (a story in English and Chinese, in short messages and in paragraphs) and
tests/fixtures/quality (a talk of questions and answers in both).
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from talekeeper.demo import bundled_stories
from talekeeper.evaluate import find_sets, measure

ROOT = Path(__file__).parents[1]
SEED = ROOT / "tests" / "fixtures" / "seed"
OWN = ROOT / "tests" / "fixtures" / "quality"
BASELINE = ROOT / "tests" / "evaluate" / "quality.json"
METRICS = ("recall@1", "recall@5", "recall@10", "mrr")


def figures() -> dict[str, dict[str, float]]:
    """Set → questions and metrics, rounded to four digits."""
    with tempfile.TemporaryDirectory() as folder:
        for name, corpus, questions in _sets():
            place = Path(folder) / name
            place.mkdir()
            (place / "corpus.jsonl").write_text(corpus, encoding="utf-8")
            (place / "queries.jsonl").write_text(questions, encoding="utf-8")
        outcome = measure(find_sets([Path(folder), OWN]), "set", None, lambda _: None)
    groups = {**outcome.groups, "all": outcome.overall}
    return {
        name: {"n": score.questions, **{metric: round(score.values[metric], 4) for metric in METRICS}}
        for name, score in groups.items()
    }


def _sets() -> Iterator[tuple[str, str, str]]:
    """Name, corpus and questions of what is not kept in the form of a set."""
    for story in bundled_stories():
        asked = [one for one in story.questions if one.evidence]
        questions = [_question(f"q{i}", story.session, one.text, one.evidence) for i, one in enumerate(asked)]
        yield f"demo-{story.language}", story.messages.read_text(encoding="utf-8"), "".join(questions)
    for path in sorted(SEED.glob("*_*.jsonl")):
        if path.stem.startswith("questions"):
            continue
        language, form = path.stem.split("_")
        corpus = path.read_text(encoding="utf-8")
        session: str = json.loads(corpus.partition("\n")[0])["session"]
        rows: list[dict[str, Any]] = [
            json.loads(line) for line in (SEED / f"questions_{language}.jsonl").read_text(encoding="utf-8").splitlines()
        ]
        questions = [_question(row["id"], session, row["question"], row["evidence"]) for row in rows]
        yield f"seed-{language}-{form}", corpus, "".join(questions)


def _question(name: str, session: str, text: str, evidence: Any) -> str:
    row = {"id": name, "session": session, "question": text, "evidence": list(evidence)}
    return json.dumps(row, ensure_ascii=False) + "\n"


def main() -> None:
    """Writes the file."""
    BASELINE.write_text(json.dumps(figures(), indent=1) + "\n", encoding="utf-8")
    print(BASELINE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()

"""`talekeeper eval`: recall on sets of questions whose answers are known."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from talekeeper.cli import output
from talekeeper.cli.options import Common, common
from talekeeper.evaluate import METRICS, find_sets

if TYPE_CHECKING:
    from talekeeper.evaluate import Grouping, Score
    from talekeeper.models import Models


@click.command(epilog="Example:  talekeeper eval sets/ --run run.jsonl")
@click.argument("folders", nargs=-1, required=True, metavar="DIR…", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--run", "run_file", type=click.Path(path_type=Path, dir_okay=False), help="Write the ranked lists to this file."
)
@click.option(
    "--by",
    type=click.Choice(["set", "category", "session"]),
    default="set",
    show_default=True,
    help="A row for each set, or for each value of this field of queries.jsonl.",
)
@click.option(
    "--semantic",
    is_flag=True,
    help="Search by meaning too, with the home's embedding model, else the local one, which embeds some hundred"
    " passages a second.",
)
@common
def command(
    options: Common, /, folders: tuple[Path, ...], run_file: Path | None, by: Grouping, *, semantic: bool
) -> None:
    """Measure recall on sets of questions.

    A DIR is a set (corpus.jsonl, queries.jsonl, SOURCE.json) or a folder of sets. Loads each into a temporary home and
    asks it as memory-search does, to depth 100. Questions without evidence are left out; evidence that is not in the
    corpus counts as not found. --run writes lines {"query", "ranked"}.

    recall@k is the share of a question's evidence among the first k results, hit@k the share of questions with any of
    theirs there, and mrr the mean of 1 / rank of the first of it. Every question weighs the same.
    """
    from talekeeper.evaluate import asked, measure  # noqa: PLC0415 - it opens homes; --help does not

    sets = find_sets(folders)
    models = _models(options) if semantic else None
    total = sum(1 + len(asked(one)) for one in sets)
    ranked = nullcontext() if run_file is None else run_file.open("w", encoding="utf-8")
    with output.progress("eval", total) as reach, ranked as run:
        outcome = measure(sets, by, run, reach, models)
    if options.as_json:
        groups = {name: _json(score) for name, score in outcome.groups.items()}
        beside = {"without_questions": outcome.silent, "evidence_not_in_corpus": outcome.unknown}
        output.emit({"by": by, "groups": groups, "all": _json(outcome.overall), **beside})
        return
    if outcome.groups:
        rows = [
            (name, score.questions, *(f"{score.values[metric]:.3f}" for metric in METRICS))
            for name, score in {**outcome.groups, "ALL": outcome.overall}.items()
        ]
        output.table((by, "n", *METRICS), rows, right=range(1, 2 + len(METRICS)))
    for name in outcome.silent:
        output.note(f"{name}: no questions, loaded only")
    for name, ids in outcome.unknown.items():
        first, *others = ids
        which = f"{first!r} and {len(others):,} more" if others else repr(first)
        output.note(f"{name}: evidence {which} is not in the corpus, so no search can find it: look at queries.jsonl")


def _models(options: Common) -> Models:
    """Those of the home, with something that embeds among them."""
    from talekeeper.home import default_folder  # noqa: PLC0415 - as above
    from talekeeper.models import EMBEDDING, LOCAL, ProviderSettings, open_models  # noqa: PLC0415 - as above

    models = open_models(options.home or default_folder())
    if models.provided is None and models.slot(EMBEDDING) is None:
        return replace(models, provided=ProviderSettings(LOCAL))
    return models


def _json(score: Score) -> dict[str, float]:
    return {"n": score.questions, **score.values}

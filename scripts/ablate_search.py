"""What each ingredient of search is worth: every one taken out alone, on sets of questions.

    python scripts/ablate_search.py sets/                      a table of recall@10 and MRR, and what each change moves
    python scripts/ablate_search.py sets/ --json figures.json  the figures as well
    python scripts/ablate_search.py sets/ --only "b 0" "stems" some of them

The sets are those of `talekeeper eval`, and so are the lists and scores: the base is what `eval` prints. A variant is a
`Tuning` of the index, or other terms for passages, or both. Sets a variant gives the same terms and the same tuning are
not asked again. Takes a minute of CPU for each variant of 8,800 questions.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ablation.asking import Shelf
from ablation.report import print_table
from ablation.variants import BASE, VARIANTS
from talekeeper.evaluate.score import Score, mean
from talekeeper.evaluate.sets import find_sets

Figures = dict[str, dict[str, Score]]
"""Variant → set → score."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints after each variant, since all of them take long."""
    options = _parser().parse_args(arguments)
    sets = [one for one in find_sets(options.folders) if any(question.evidence for question in one.questions)]
    chosen = [one for one in VARIANTS if not options.only or one.name in options.only]
    figures: Figures = {}
    with tempfile.TemporaryDirectory(prefix="talekeeper-ablation-") as folder:
        shelf = Shelf(Path(folder), sets)
        for variant in [BASE, *chosen]:
            figures[variant.name] = {name: mean(rows) for name, rows in shelf.measure(variant).items()}
            print(f"{variant.name}: done", file=sys.stderr)
            if options.json:
                options.json.write_text(json.dumps(_plain(figures), indent=1) + "\n")
    print_table(figures)
    return 0


def _plain(figures: Figures) -> dict[str, dict[str, dict[str, float]]]:
    return {
        variant: {name: {"n": score.questions, **score.values} for name, score in sets.items()}
        for variant, sets in figures.items()
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR", help="a set, or a folder of sets")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=[one.name for one in VARIANTS])
    parser.add_argument("--json", type=Path, help="write the figures here")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())

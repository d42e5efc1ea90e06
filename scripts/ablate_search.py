"""What each ingredient of search is worth: every one taken out alone, on sets of questions.

    python scripts/ablate_search.py sets/                      a table of recall@10 and MRR, and what each change moves
    python scripts/ablate_search.py sets/ --json figures.json  the figures as well
    python scripts/ablate_search.py sets/ --only "no stems" "k1 1.5"   some of them

The sets are those of `talekeeper eval`, and so are the lists and scores: the base is what `eval` prints. A variant is
other `RankingParams`, or other terms for passages, or both. A set that a variant gives the same terms and the same
parameters is not asked again. Takes a minute of CPU for each variant of 8,800 questions.
Comparing with rank-bm25 needs the extra `test`.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ablation.asking import Shelf
from ablation.report import Figures, parser, print_table, sets_in, write_json
from ablation.variants import BASE, VARIANTS
from extras import require
from talekeeper.evaluate import mean


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints after each variant, since all of them take long."""
    options = parser(__doc__, [one.name for one in VARIANTS]).parse_args(arguments)
    sets = [one for one in sets_in(options.folders) if any(question.evidence for question in one.questions)]
    chosen = [one for one in VARIANTS if not options.only or one.name in options.only]
    require("test", ["rank_bm25"] if any(one.by_rank_bm25 for one in chosen) else [])
    figures: Figures = {}
    with tempfile.TemporaryDirectory(prefix="talekeeper-ablation-") as folder:
        shelf = Shelf(Path(folder), sets)
        for variant in [BASE, *chosen]:
            figures[variant.name] = {name: mean(rows) for name, rows in shelf.measure(variant).items()}
            print(f"{variant.name}: done", file=sys.stderr)
            if options.json:
                write_json(options.json, figures)
    print_table(figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Figures of variants and sets: as tables, as they are or what each variant moves in thousandths, and as JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from talekeeper.errors import TalekeeperError
from talekeeper.evaluate import QuestionSet, Score, find_sets

COLUMNS = ("recall@10", "mrr")

Figures = dict[str, dict[str, Score]]
"""Variant → set → score."""


def parser(about: str | None, variants: Iterable[str]) -> argparse.ArgumentParser:
    """What both scripts are told: `folders`, `only` some of the variants' names, and `json`."""
    made = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("folders", nargs="+", type=Path, metavar="DIR", help="a set, or a folder of sets")
    made.add_argument("--only", nargs="+", metavar="NAME", choices=list(variants))
    made.add_argument("--json", type=Path, help="write the figures here")
    return made


def sets_in(folders: Sequence[Path]) -> list[QuestionSet]:
    """Those that `talekeeper eval` finds there; ends the process with one sentence where it cannot read them."""
    try:
        return find_sets(folders)
    except TalekeeperError as fault:
        sys.exit(str(fault))


def write_json(path: Path, figures: Figures) -> None:
    """Variant → set → `n`, the number of questions, and every metric."""
    plain = {
        variant: {name: {"n": score.questions, **score.values} for name, score in sets.items()}
        for variant, sets in figures.items()
    }
    path.write_text(json.dumps(plain, indent=1) + "\n")


def print_figures(figures: Mapping[str, Mapping[str, Score]]) -> None:
    """A table for Markdown: variants down, sets across, recall@10 and MRR in each cell; last the mean of all sets."""
    names = list(next(iter(figures.values())))
    print("| |", " | ".join(names), "| mean |")
    print("|", " | ".join(["---"] * (len(names) + 2)), "|")
    for variant, sets in figures.items():
        print(f"| {variant} |", " | ".join([*(_whole(score) for score in sets.values()), _mean(sets)]), "|")


def print_table(figures: Mapping[str, Mapping[str, Score]]) -> None:
    """The first variant as `print_figures` does; of the others what they move, in thousandths."""
    (base_name, base), *variants = figures.items()
    print("| |", " | ".join(base), "| mean |")
    print("|", " | ".join(["---"] * (len(base) + 2)), "|")
    print(f"| {base_name} |", " | ".join([*(_whole(score) for score in base.values()), _mean(base)]), "|")
    for name, sets in variants:
        cells = [_moved(_values(sets[one]), _values(base[one])) for one in base]
        cells.append(_moved(_means(sets), _means(base)))
        print(f"| {name} |", " | ".join(cells), "|")


def _values(score: Score) -> tuple[float, ...]:
    return tuple(score.values[column] for column in COLUMNS)


def _means(sets: Mapping[str, Score]) -> tuple[float, ...]:
    """Every set weighs the same."""
    rows = [_values(score) for score in sets.values()]
    return tuple(sum(column) / len(rows) for column in zip(*rows, strict=True))


def _whole(score: Score) -> str:
    return " / ".join(f"{value:.3f}" for value in _values(score))


def _mean(sets: Mapping[str, Score]) -> str:
    return " / ".join(f"{value:.3f}" for value in _means(sets))


def _moved(values: tuple[float, ...], base: tuple[float, ...]) -> str:
    moved = [round(1000 * (value - before)) for value, before in zip(values, base, strict=True)]
    return " / ".join(f"{one:+d}" if one else "0" for one in moved) if any(moved) else ""

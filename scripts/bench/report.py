"""What is shown of the figures: a table with every engine beside ours, and a picture of cost against size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.measuring import Figure
from bench.run import Result

OURS = "talekeeper"


def print_table(result: Result) -> None:
    """CPU time and, in brackets, how many times ours it is; wall time behind it."""
    print(f"\n── {result.corpus}, {result.size:,} passages")
    figures = {(one.measure, one.engine): one for one in result.figures}
    for measure in dict.fromkeys(one.measure for one in result.figures):
        print(f"\n{measure:38} CPU ms p50    p95   × ours    wall ms p50    p95   asked")
        ours = figures.get((measure, OURS))
        for one in result.figures:
            if one.measure == measure:
                print(_row(one, ours))
    _print_stores(result)
    _print_agreement(result)


def _row(one: Figure, ours: Figure | None) -> str:
    times = f"{one.cpu / ours.cpu:8.2f}" if ours and ours.cpu else " " * 8
    cpu, wall = f"{one.cpu:10.3f} {one.cpu_p95:9.3f}", f"{one.wall:10.3f} {one.wall_p95:9.3f}"
    return f"    {one.engine:32} {cpu} {times} {wall} {one.samples:5}"


def _print_stores(result: Result) -> None:
    print("\n                                       built, CPU s   disk MB")
    for engine, seconds in result.built.items():
        print(f"    {engine:32} {seconds:13.2f} {result.disk.get(engine, 0) / 1e6:10.1f}")
    print("\nin a process of its own                CPU ms   wall ms   RSS MB beyond imports, after 200 queries")
    for one in result.cold:
        print(f"    {one.engine:32} {one.cpu:7.1f} {one.wall:9.1f} {one.resident:8.1f} {one.resident_later:8.1f}")


def _print_agreement(result: Result) -> None:
    print("\nbest ten: share of ours · share explained by the engine's own constants")
    for one in result.agreement:
        explained = "   -" if one.explained is None else f"{one.explained:4.0%}"
        print(f"    {one.engine:32} {one.terms:2} terms {one.shared:5.0%} {explained}")


_DRAWN = (
    ("add one", "one passage more, until it is found"),
    ("query, 8 terms", "a query of 8 terms"),
    ("query, 25 terms", "a query of 25 terms"),
)


def plot(results: Sequence[Result], path: Path) -> None:
    """CPU time against size, one panel a measure, both axes logarithmic; needs matplotlib."""
    pyplot: Any = import_module("matplotlib.pyplot")
    figures = [one for result in results for one in result.figures]
    engines = _engines(figures)
    picture, panels = pyplot.subplots(1, len(_DRAWN), figsize=(13, 4.6), sharex=True)
    for panel, (measure, title) in zip(panels, _DRAWN, strict=True):
        for number, engine in enumerate(engines):  # one colour in all panels, whoever is missing in one
            points = sorted((one.size, one.cpu) for one in figures if (one.measure, one.engine) == (measure, engine))
            if points:
                style = (
                    {"linewidth": 3, "color": "black"} if engine == OURS else {"linewidth": 1.3, "color": f"C{number}"}
                )
                panel.plot(*zip(*points, strict=True), marker="o", markersize=4, label=engine, **style)
        panel.set(title=title, xscale="log", yscale="log", xlabel="passages", ylabel="CPU time, ms")
        panel.grid(alpha=0.25)
    handles, labels = panels[1].get_legend_handles_labels()
    picture.legend(handles, labels, loc="lower center", ncols=5, frameon=False)
    picture.tight_layout(rect=(0, 0.12, 1, 1))
    picture.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(picture)


def _engines(figures: Iterable[Figure]) -> list[str]:
    names = dict.fromkeys(one.engine for one in figures)
    return [
        name for name in names if name not in {"talekeeper, nothing cached", "talekeeper, fsync", "SQLite, one row"}
    ]

"""docs/how-to/connect-a-model.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from talekeeper.models import SLOTS, Slot, open_models
from talekeeper.models.settings import KEYS, USUAL_PORTS
from talekeeper.models.urls import NETWORKS, BaseUrl

PAGE = (Path(__file__).resolve().parents[2] / "docs/how-to/connect-a-model.md").read_text("utf-8")


def _table(heading: str) -> dict[str, list[str]]:
    """First cell, without its code marks → the other cells."""
    rows = PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    cells = [
        [cell.strip() for cell in re.split(r"\s\|\s", f" {line[1:-1]} ")]
        for line in re.findall(r"^\|.*\|$", rows, re.MULTILINE)
    ]
    return {row[0].strip('`"'): row[1:] for row in cells[2:]}


def test_every_key_is_there_and_no_other() -> None:
    assert _table("Every key").keys() == KEYS.keys()


def test_the_defaults_are_the_codes() -> None:
    slot = Slot("narrator", BaseUrl("http", "h", 80, ""))
    limits = slot.limits
    defaults = {key: row[0].strip("`").strip('"') for key, row in _table("Every key").items()}

    for key in ("context", "reply", "retries", "tools", "json", "stream", "usage", "reply_parameter", "batch"):
        assert defaults[key] == str(getattr(slot, key)).lower()
    assert defaults["timeouts"] == (
        f"{{ connect = {limits.connect:g}, first = {limits.first:g}, between = {limits.between:g},"
        f" total = {limits.total:g} }}"
    )


def test_slots_networks_and_ports_are_all_named() -> None:
    assert tuple(_table("Which model does what")) == SLOTS
    assert tuple(name.strip('`"') for name in _table("Addresses")) == NETWORKS
    assert [port for _, port in USUAL_PORTS if str(port) not in PAGE] == []


@pytest.mark.parametrize("example", re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL))
def test_every_example_is_a_configuration(tmp_path: Path, example: str) -> None:
    (tmp_path / "talekeeper.toml").write_text(example, encoding="utf-8")

    models = open_models(tmp_path, environ={})

    assert models.slot("narrator") is not None


def test_the_python_example_runs() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)

    exec(compile(example, "connect-a-model.md", "exec"), {})  # noqa: S102 -- it stands in our own page

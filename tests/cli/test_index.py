"""`talekeeper index`, and what the other commands say of search by meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from talekeeper.testing import ScriptedServer, fail

Run = Callable[..., Any]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def connected(told: Run, home: Path, server: ScriptedServer) -> Run:
    """A story told in a home that has an embedding endpoint."""
    configure(home, f'base_url = "{server.base_url}"\nmodel = "hash"')
    return told


def configure(home: Path, table: str) -> None:
    (home / "talekeeper.toml").write_text(f"[models.embedding]\n{table}\n", encoding="utf-8")


def test_rebuild_gives_every_passage_its_vector_once(connected: Run) -> None:
    before = connected("index", "status", "--json").json
    first = connected("index", "rebuild")
    second = connected("index", "rebuild", "--json").json

    assert (before["passages"], before["embedded"]) == (5, 0)
    assert before["encoder"].startswith("hash at http://127.0.0.1")
    assert first.out.splitlines()[0] == "5 vectors made"
    assert first.out.splitlines()[1].startswith("5 of 5 passages can be found by meaning, with hash at")
    assert (second["made"], second["embedded"], second["fault"]) == (0, 5, "")


def test_search_says_how_it_searched_and_why(connected: Run) -> None:
    connected("index", "rebuild")

    answer = connected("search", "brass key", "--explain", "--json").json
    shown = connected("search", "brass key", "--explain")

    assert answer["mode"] == "hybrid"
    assert answer["results"][0]["closeness"]["rank_by_words"] == 1
    assert "by meaning (cosine " in shown.out


def test_search_says_what_has_no_vector_yet(connected: Run) -> None:
    outcome = connected("search", "brass key")

    assert outcome.code == 0
    assert "5 of 5 passages were searched by words alone; talekeeper index rebuild embeds them" in outcome.err


def test_without_an_encoder_status_says_how_to_get_one(told: Run) -> None:
    status, rebuild = told("index", "status"), told("index", "rebuild")

    assert (status.code, rebuild.code) == (0, 1)
    assert status.out == "5 passages, found by words alone\n"
    assert 'provider = "local"' in status.err
    assert 'provider = "local"' in rebuild.err


def test_a_slot_that_is_nearly_the_embedding_slot_is_asked_about(told: Run, home: Path) -> None:
    slot = '[models.embeding]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "hash"\n'
    (home / "talekeeper.toml").write_text(slot, encoding="utf-8")

    status, rebuild = told("index", "status"), told("index", "rebuild")

    assert (status.code, rebuild.code) == (0, 1)
    for outcome in (status, rebuild):
        assert "did you mean [models.embedding] by [models.embeding]?" in outcome.err


def test_what_cannot_embed_is_a_sentence(told: Run, home: Path) -> None:
    configure(home, 'provider = "nobody/small"')

    status, rebuild, search = told("index", "status"), told("index", "rebuild"), told("search", "brass key")

    assert (status.code, rebuild.code, search.code) == (1, 1, 0)
    for outcome in (status, rebuild, search):
        assert "nobody: it is not installed; enable it, or name another embedding provider" in outcome.err


def test_an_endpoint_that_refuses_is_told_by_status(told: Run, home: Path) -> None:
    with ScriptedServer(embeddings=[fail(401, message="no such key")]) as server:
        configure(home, f'base_url = "{server.base_url}"\nmodel = "hash"')
        refused = told("index", "status")
    gone = told("index", "status")

    assert (refused.code, gone.code) == (1, 1)
    assert "no such key" in refused.err
    assert gone.err
    assert refused.out == gone.out == "5 passages, found by words alone\n"


MISTAKES = [
    pytest.param("[models.embedding\n", "the file is not TOML", id="no TOML"),
    pytest.param("[models.embeding]\nprovider = 'local'\n", "did you mean [models.embedding]?", id="misspelt"),
    pytest.param("[models.embedding]\nprovider = 'nobody/small'\n", "nobody: it is not installed", id="not there"),
]


@pytest.mark.parametrize(("text", "fault"), MISTAKES)
def test_a_mistake_in_the_configuration_is_told_by_doctor_and_status(
    told: Run, home: Path, text: str, fault: str
) -> None:
    (home / "talekeeper.toml").write_text(text, encoding="utf-8")

    doctor, status = told("doctor"), told("status")
    examined, listed = told("doctor", "--json"), told("status", "--json")

    assert (doctor.code, status.code) == (1, 0)
    assert "models: 1 fault\n" in doctor.out
    assert fault in doctor.out
    assert doctor.out.endswith("state: degraded (models)\n")
    assert fault in status.out
    assert "traces " in status.out
    assert len(examined.json["faults"]["models"]) == len(listed.json["model_faults"]) == 1


def test_doctor_and_status_ask_no_endpoint(connected: Run, server: ScriptedServer) -> None:
    doctor, status = connected("doctor"), connected("status", "--json")

    assert doctor.code == 0
    assert status.json["model_faults"] == []
    assert not server.requests


def test_a_rebuild_that_is_broken_off_keeps_what_it_had(told: Run, home: Path) -> None:
    steps = [fail(500, message="busy")]
    with ScriptedServer() as whole, ScriptedServer(embeddings=steps * 9) as broken:
        configure(home, f'base_url = "{broken.base_url}"\nmodel = "hash"\nretries = 0')
        failed = told("index", "rebuild")
        configure(home, f'base_url = "{whole.base_url}"\nmodel = "hash"\nbatch = 2')
        made = told("index", "rebuild", "--json").json["made"]

    assert failed.code == 1
    assert "busy" in failed.err
    assert made == 5

"""`provider` in `[models.embedding]`: what embeds in place of an endpoint."""

from __future__ import annotations

from pathlib import Path

import pytest
from talekeeper.errors import InputError
from talekeeper.models import LOCAL, ProviderSettings, open_models


def home_with(folder: Path, text: str) -> Path:
    (folder / "talekeeper.toml").write_text(text, encoding="utf-8")
    return folder


def test_a_provider_stands_beside_a_narrator_that_the_environment_names(tmp_path: Path) -> None:
    home = home_with(tmp_path, '[models.embedding]\nprovider = "local"\n')

    models = open_models(home, environ={"OPENAI_BASE_URL": "http://127.0.0.1:1234/v1"})

    assert models.origin == "environment"
    assert models.provided == ProviderSettings(LOCAL)
    assert "local" in models.missing("embedding")


def test_a_plugins_provider_has_a_model_and_a_batch(tmp_path: Path) -> None:
    home = home_with(tmp_path, '[models.embedding]\nprovider = "lantern/small"\nmodel = "e5"\nbatch = 8\n')

    models = open_models(home, environ={})

    assert models.origin == "none"
    assert models.provided == ProviderSettings("lantern/small", "e5", 8)


def test_a_provider_has_prefixes(tmp_path: Path) -> None:
    table = 'provider = "local"\nquery_prefix = "query: "\npassage_prefix = "passage: "\n'

    models = open_models(home_with(tmp_path, f"[models.embedding]\n{table}"), environ={})

    assert models.provided == ProviderSettings(LOCAL, query_prefix="query: ", passage_prefix="passage: ")


def test_without_a_provider_there_is_none(tmp_path: Path) -> None:
    home = home_with(tmp_path, '[models.embedding]\nbase_url = "http://127.0.0.1:1234/v1"\n')

    assert open_models(home, environ={}).provided is None


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param('[models.embedding]\nprovider = "Local"\n', "models.embedding.provider", id="a name that is none"),
        pytest.param('[models.narrator]\nprovider = "local"\n', "models.narrator.provider", id="another slot"),
        pytest.param(
            '[models.embedding]\nprovider = "local"\nbase_url = "http://127.0.0.1/v1"\n',
            "models.embedding.base_url",
            id="an endpoint too",
        ),
        pytest.param(
            '[models.embedding]\nprovider = "local"\njson = "object"\n',
            "models.embedding.json",
            id="what embeds nothing",
        ),
    ],
)
def test_what_does_not_go_with_a_provider_is_named(tmp_path: Path, text: str, place: str) -> None:
    home = home_with(tmp_path, text)

    with pytest.raises(InputError) as raised:
        open_models(home, environ={})

    assert place in raised.value.where

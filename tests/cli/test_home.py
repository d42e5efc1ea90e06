"""A home: where it is, what it opens, and how it is left."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from talekeeper import search
from talekeeper.db import Tx
from talekeeper.errors import ParameterError, StoreError
from talekeeper.home import Home, default_folder
from talekeeper.story import Address, Draft, Story


def test_the_environment_names_the_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TALEKEEPER_HOME", str(tmp_path / "named"))

    with Home.open() as home:
        assert home.folder == tmp_path / "named"


def test_without_a_name_the_home_is_where_the_system_keeps_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TALEKEEPER_HOME", raising=False)

    assert default_folder().name == "talekeeper"
    assert default_folder().is_absolute()


def test_a_new_home_is_its_owners_alone(tmp_path: Path) -> None:
    with Home.open(tmp_path / "home") as home:
        home.story.workspaces.create("default")

    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "home").iterdir() if file.is_file()}
    assert set(modes.values()) == {0o600}, modes


@pytest.mark.parametrize(
    ("said", "given"), [("", {}), ("0", {"posting_budget": 0}), ("512", {"posting_budget": 512 << 20})]
)
def test_the_environment_bounds_the_postings_in_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str, given: dict[str, int]
) -> None:
    asked: list[dict[str, int]] = []

    def make_index(**options: int) -> None:
        asked.append(options)

    monkeypatch.setattr(search, "Index", make_index)
    monkeypatch.setenv("TALEKEEPER_POSTINGS_MB", said)

    home = Home.open(tmp_path / "home")
    _ = home.index
    home.db.close()

    assert asked == [given]


@pytest.mark.parametrize("said", ["much", "-1", "1.5", "1" * 7, "5²"])
def test_a_bound_that_is_no_size_is_refused_before_anything_is_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str
) -> None:
    monkeypatch.setenv("TALEKEEPER_POSTINGS_MB", said)

    with pytest.raises(ParameterError, match="whole number of megabytes"):
        Home.open(tmp_path / "home")

    assert not (tmp_path / "home").exists()


def test_a_home_that_must_be_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        Home.open(tmp_path / "home", new=False)

    assert not (tmp_path / "home").exists()


def test_leaving_a_home_brings_its_index_in_order_and_closes_it(tmp_path: Path) -> None:
    with Home.open(tmp_path) as home:
        session = home.story.sessions.create("default", session_id="s")
        home.story.messages.append(session.address, [Draft("player", f"line {number}") for number in range(300)])

    with pytest.raises(StoreError, match="closed"):
        home.story.workspaces.all()
    with Home.open(tmp_path) as again:
        assert again.story.read(_unsettled) < 300
        assert again.story.index.check() == []


def _unsettled(tx: Tx) -> int:
    row = tx.one("SELECT count(*) FROM tail")
    return int(row[0]) if row else 0


def test_what_went_wrong_is_not_hidden_by_the_tidying_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def settle(_: object, **__: object) -> None:
        raise StoreError("the tidying up went wrong")

    monkeypatch.setattr(Story, "settle", settle)

    with pytest.raises(KeyError, match="mine"), Home.open(tmp_path):
        raise KeyError("mine")


def test_no_plugins_is_decided_before_any_is_looked_at(tmp_path: Path) -> None:
    folder = tmp_path / "home" / "plugins" / "broken"
    folder.mkdir(parents=True)
    (folder / "plugin.toml").write_text("not a manifest")

    with Home.open(tmp_path / "home", no_plugins="") as home:
        session = home.story.sessions.create("default", session_id="s")
        assert home.host.roster(session=session).working == ()
        assert home.story.messages.read(Address("default", "s")) == []


@pytest.mark.skipif(os.name != "posix", reason="pipes are POSIX")
def test_a_pipe_in_the_place_of_the_remembered_server_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "local-server")

    with Home.open(tmp_path) as home:
        assert home.models is not None

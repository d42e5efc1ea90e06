"""`<home>/talekeeper.toml` and the environment → slots."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from talekeeper.errors import InputError, ParameterError
from talekeeper.models.secrets import EnvironmentKey, FileKey, KeySource
from talekeeper.models.slots import (
    EMBEDDING,
    FILE_NAME,
    LOCAL,
    NARRATOR,
    NO_MODELS,
    SLOTS,
    Models,
    Price,
    Provided,
    Slot,
    TimeLimits,
)
from talekeeper.models.urls import named_network, read_base_url
from talekeeper.text import is_table

if TYPE_CHECKING:
    from talekeeper.models.tables import SlotTable

# What only the embedding slot has, and what to do about it elsewhere.
_OF_EMBEDDING = {
    "provider": "write base_url here",
    "query_prefix": f"move it to [models.{EMBEDDING}]",
    "passage_prefix": f"move it to [models.{EMBEDDING}]",
}
_SLOT_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_FILE_LIMIT = 1024 * 1024
# What a slot has of the narrator's when it names no endpoint of its own. An embedding slot takes the endpoint alone.
_OF_THE_MODEL = ("price", "thinks")
_OF_THE_ENDPOINT = {"base_url", "key_env", "key_file", "network", "timeouts", "retries"}


def open_models(home: Path, *, environ: Mapping[str, str] | None = None, remembered: str = "") -> Models:
    """What the home's file configures, else `OPENAI_BASE_URL`, else the remembered local server, else `NO_MODELS`.

    Touches no network and reads no key. `remembered` is the URL of a server that `find_local_servers` found and a
    person was told of. Raises `InputError` for a configuration with a mistake in it.
    """
    slots, provided = slots_of_file(home, environ), provided_of_file(home)
    if slots:
        return Models("file", slots, provided)
    if slots := slots_of_environment(os.environ if environ is None else environ):
        return Models("environment", slots, provided)
    if remembered:
        return Models("local", slots_of_local(remembered), provided)
    return replace(NO_MODELS, provided=provided) if provided else NO_MODELS


def slots_of_file(home: Path, environ: Mapping[str, str] | None = None) -> dict[str, Slot]:
    """The slots that the home's file configures; empty when there is no file or no `[models]` in it.

    Raises `InputError` with the place: file and line for what is no TOML, else the key.
    """
    return slots_of(_document(home / FILE_NAME), home / FILE_NAME, environ)


def slots_of(document: Mapping[str, Any], path: Path, environ: Mapping[str, str] | None = None) -> dict[str, Slot]:
    """The slots of a file that has been parsed; `path` is for messages and for key files beside it."""
    tables = document.get("models", {})
    if not is_table(tables):
        raise ParameterError(f"{path}: models", "is no table", cure="write [models.narrator]")
    return _read(tables, path, environ) if tables else {}


def provided_of_file(home: Path) -> Provided | None:
    """The embedding provider that the file names in place of an endpoint; raises as `slots_of_file` does."""
    path = home / FILE_NAME
    tables = _document(path).get("models")
    table = tables.get(EMBEDDING) if is_table(tables) else None
    if not is_table(table) or "provider" not in table:
        return None
    from talekeeper.models.tables import read_provided, read_table  # noqa: PLC0415 -- as in _read

    place = f"{path}: models.{EMBEDDING}"
    return read_provided(read_table(table, place), place)


def slots_of_environment(environ: Mapping[str, str]) -> dict[str, Slot]:
    """A narrator from `OPENAI_BASE_URL`, with `OPENAI_API_KEY` and `OPENAI_MODEL` when they are set; else nothing."""
    text = environ.get("OPENAI_BASE_URL", "").strip()
    if not text:
        return {}
    url = read_base_url(text, "OPENAI_BASE_URL")
    key = EnvironmentKey("OPENAI_API_KEY", environ) if environ.get("OPENAI_API_KEY", "").strip() else None
    model = environ.get("OPENAI_MODEL", "").strip()
    return {NARRATOR: Slot(NARRATOR, url, model=model, key=key, network=named_network(url.host))}


def slots_of_local(url: str, model: str = "") -> dict[str, Slot]:
    """A narrator at a server on this machine that was found before and is remembered by its URL."""
    read = read_base_url(url, "the local server")
    return {NARRATOR: Slot(NARRATOR, read, model=model, network="loopback")}


def _document(path: Path) -> dict[str, Any]:
    """Empty where there is no file."""
    try:
        text = _text(path)
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeError) as error:
        fault = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
    else:
        return _parsed(text, path)
    raise InputError(f"the file cannot be read ({fault})", where=str(path))


def _text(path: Path) -> str:
    if path.exists() and not path.is_file():  # opening a pipe may wait for ever
        raise InputError("this is no file, and the settings of models go there", where=str(path), cure="move it away")
    with path.open("rb") as file:
        raw = file.read(_FILE_LIMIT + 1)
    if len(raw) > _FILE_LIMIT:
        raise InputError("the file has more than a mebibyte", where=str(path))
    return raw.decode("utf-8-sig")


def _parsed(text: str, path: Path) -> dict[str, Any]:
    import tomli  # noqa: PLC0415 -- a home without the file does not need it

    try:
        return tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        # The message may quote the line, and a person may have put a key there all the same.
        fault = InputError("the file is not TOML", where=f"{path}:{error.lineno}:{error.colno}", cure="mend this line")
    raise fault


def _read(tables: dict[str, Any], path: Path, environ: Mapping[str, str] | None) -> dict[str, Slot]:
    from talekeeper.models.tables import read_provided, read_table  # noqa: PLC0415 -- brings pydantic, for who has tables

    read: dict[str, SlotTable] = {}
    for name, table in tables.items():
        if not _SLOT_NAME.fullmatch(name):
            raise ParameterError(f"{path}: models", f"{name!r} is no name of a slot", cure="use lower-case letters")
        read[name] = read_table(table, f"{path}: models.{name}")
        if name != EMBEDDING:
            _refuse_what_embeds(name, read[name], f"{path}: models.{name}")
        if read[name].provider:
            read_provided(read[name], f"{path}: models.{name}")
    narrator = read.get(NARRATOR)
    return {name: _slot(name, table, narrator, path, environ) for name, table in read.items() if not table.provider}


def _refuse_what_embeds(name: str, table: SlotTable, place: str) -> None:
    for key, cure in _OF_EMBEDDING.items():
        if getattr(table, key) is not None:
            raise ParameterError(f"{place}.{key}", "only the embedding slot has one", cure=_meant(name) or cure)


def _meant(name: str) -> str:
    """The question whether a known slot was meant; empty for one that is known, or like none."""
    near = [] if name in SLOTS else get_close_matches(name, SLOTS, n=1)
    return f"did you mean [models.{near[0]}]?" if near else ""


def _slot(name: str, own: SlotTable, narrator: SlotTable | None, path: Path, environ: Mapping[str, str] | None) -> Slot:
    values = _inherited(name, own, narrator) | own.model_dump(exclude_none=True, exclude={"timeouts"})
    if "price" in values:
        values["price"] = Price(**values["price"])
    place = f"{path}: models.{name}"
    if values.pop("store", None):
        raise ParameterError(f"{place}.store", "stands without provider", cure="the home keeps an endpoint's vectors")
    if "base_url" not in values:
        cure = f"write it there, or in [models.{NARRATOR}] for all slots"
        if name == EMBEDDING:
            cure = f'write provider = "{LOCAL}" for the model of the semantic extra, or the base_url of an endpoint'
        raise ParameterError(f"{place}.base_url", "is missing", cure=_meant(name) or cure)
    url = read_base_url(values.pop("base_url"), f"{place}.base_url")
    if own.key_env and own.key_file:
        raise ParameterError(f"{place}.key_file", "stands beside key_env", cure="keep one of the two")
    environment, file = values.pop("key_env", None), values.pop("key_file", None)
    values["network"] = values.get("network") or named_network(url.host)
    if "json_mode" in values:
        values["json"] = values.pop("json_mode")
    limits = values.pop("timeouts", {}) | (own.timeouts.model_dump(exclude_none=True) if own.timeouts else {})
    return Slot(name, url, key=_key(environment, file, path, environ), limits=TimeLimits(**limits), **values)


def _inherited(name: str, own: SlotTable, narrator: SlotTable | None) -> dict[str, Any]:
    """What the narrator's table gives. With an endpoint of its own a slot gets nothing: least of all the key."""
    if narrator is None or narrator is own or own.base_url is not None:
        return {}
    values = narrator.model_dump(exclude_none=True)
    if name == EMBEDDING:
        values = {key: value for key, value in values.items() if key in _OF_THE_ENDPOINT}
    if own.key_env or own.key_file:
        values.pop("key_env", None)
        values.pop("key_file", None)
    if own.model is not None and own.model != narrator.model:
        for key in _OF_THE_MODEL:
            values.pop(key, None)
    return values


def _key(environment: str | None, file: str | None, path: Path, environ: Mapping[str, str] | None) -> KeySource | None:
    if environment:
        return EnvironmentKey(environment, environ)
    if file:
        return FileKey(path.parent / Path(file).expanduser())
    return None

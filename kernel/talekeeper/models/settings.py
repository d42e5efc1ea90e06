"""Where the models of a home come from: `<home>/talekeeper.toml`, the environment, or a server on this machine."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from talekeeper.clock import Clock
from talekeeper.config import Key, key_faults, nearest, read_toml
from talekeeper.errors import ModelError, ParameterError
from talekeeper.models.chat import Cancel, sampling_fault
from talekeeper.models.secrets import EnvironmentKey, FileKey, KeySource
from talekeeper.models.slots import (
    EMBEDDING,
    LOCAL,
    NARRATOR,
    NO_MODELS,
    SLOTS,
    JsonMode,
    Models,
    Price,
    ProviderSettings,
    Slot,
    TimeLimits,
)
from talekeeper.models.source import FILE_NAME
from talekeeper.models.urls import NETWORKS, BaseUrl, named_network, read_base_url
from talekeeper.text import is_table

_REGISTERED = r"[a-z][a-z0-9-]{0,63}/[a-z][a-z0-9_-]{0,63}"


def _pattern(expected: str, pattern: str) -> Key:
    def fits(value: object) -> bool:
        return isinstance(value, str) and re.fullmatch(pattern, value) is not None

    return Key(expected, fits)


def _is_currency(value: object) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= 8 and value.isprintable() and " " not in value  # noqa: PLR2004 -- said where it is used


def _prefix(example: str) -> Key:
    expected = f"text of at most 200 characters; write what the model wants before {example}"
    return Key.text(expected, most=200)


KEYS: Mapping[str, Key] = {
    "base_url": Key.text(),
    "model": Key.text("text of 1 to 300 characters", empty=False, most=300),
    "key_env": _pattern("the name of an environment variable, not the key", "[A-Za-z_][A-Za-z0-9_]*"),
    "key_file": Key.text("the path of a file", empty=False),
    "network": Key.choice(*NETWORKS),
    "context": Key.whole(256, 100_000_000),
    "reply": Key.whole(1, 10_000_000),
    "timeouts": Key.table(),
    "retries": Key.whole(0, 10),
    "tools": Key.flag(),
    "json": Key.choice(*get_args(JsonMode)),
    "stream": Key.flag(),
    "usage": Key.flag(),
    "reply_parameter": Key.choice("max_tokens", "max_completion_tokens"),
    "batch": Key.whole(1, 2048),
    "query_prefix": _prefix('a question, as in query_prefix = "query: "'),
    "passage_prefix": _prefix('a passage, as in passage_prefix = "passage: "'),
    "provider": _pattern('"local" or "plugin/name"', f"local|{_REGISTERED}"),
    "store": _pattern('"plugin/name"', _REGISTERED),
    "price": Key.table(),
    "thinks": Key.flag(),
    "sampling": Key.table(),
}
"""The keys of a table `[models.<slot>]`. What is absent comes from the narrator's table or has its default."""

_TIMEOUTS = {name: Key.number(0, 86_400, above=True) for name in ("connect", "first", "between", "total")}
_PRICE = {
    "prompt": Key.number(0, 1_000_000),
    "completion": Key.number(0, 1_000_000),
    "currency": Key("1 to 8 visible characters without blanks", _is_currency),
}
_PRICE_CURE = 'write price = { prompt = 0.5, completion = 1.5, currency = "USD" }, per million tokens'
_SECRETS = {"key", "api_key", "apikey", "api-key", "token", "secret", "password", "authorization"}
# What only the embedding slot has, and what to do about it elsewhere.
_OF_EMBEDDING = {
    "provider": "write base_url here",
    "query_prefix": f"move it to [models.{EMBEDDING}]",
    "passage_prefix": f"move it to [models.{EMBEDDING}]",
}
_OF_A_PROVIDER = {"provider", "model", "batch", "store", "query_prefix", "passage_prefix"}
# What a slot has of the narrator's when it names no endpoint of its own. An embedding slot takes the endpoint alone.
_OF_THE_MODEL = {"price", "thinks"}
_OF_THE_ENDPOINT = {"base_url", "key_env", "key_file", "network", "timeouts", "retries"}

USUAL_PORTS = (("Ollama", 11434), ("llama.cpp", 8080), ("LM Studio", 1234))

# A server on the same machine that takes longer than this to list its models is busy loading one.
_LIMITS = TimeLimits(connect=0.5, first=2.0, between=1.0, total=3.0)


def open_models(home: Path, *, environ: Mapping[str, str] | None = None, remembered: str = "") -> Models:
    """What the home's file configures, else `OPENAI_BASE_URL`, else the remembered local server, else `NO_MODELS`.

    Touches no network and reads no key. `remembered` is the URL of a server that `find_local_servers` found and a
    person was shown. Raises `InputError` with the place of a mistake: file and line for what is no TOML, else the
    key. No value of the file is in a message.
    """
    path = home / FILE_NAME
    tables = {name: _checked(name, table, f"{path}: models.{name}") for name, table in _tables(path).items()}
    provided = _provided(tables.get(EMBEDDING, {}), f"{path}: models.{EMBEDDING}")
    narrator = tables.get(NARRATOR, {})
    slots = {
        name: _slot(name, table, {} if name == NARRATOR else narrator, path, environ)
        for name, table in tables.items()
        if "provider" not in table
    }
    if slots:
        return Models("file", slots, provided)
    if slots := _slots_of_environment(os.environ if environ is None else environ):
        return Models("environment", slots, provided)
    if remembered:
        url = read_base_url(remembered, "the local server")
        return Models("local", {NARRATOR: Slot(NARRATOR, url, network="loopback")}, provided)
    return replace(NO_MODELS, provided=provided) if provided else NO_MODELS


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that answered: what usually listens there, where, and the models it lists."""

    program: str
    url: BaseUrl
    models: tuple[str, ...]


def find_local_servers(
    *, clock: Clock, ports: Sequence[tuple[str, int]] = USUAL_PORTS, cancel: Cancel | None = None
) -> list[LocalServer]:
    """The servers on 127.0.0.1 that answer `/v1/models` with a list of models; anything else there does not count.

    Sends no text and no key. Takes some 3 s for each port that is open and silent, nothing for a closed one.
    """
    from talekeeper.models.client import Client  # noqa: PLC0415 -- brings httpcore, which nothing else here needs

    found: list[LocalServer] = []
    for program, port in ports:
        url = BaseUrl("http", "127.0.0.1", port, "/v1")
        slot = Slot(NARRATOR, url, network="loopback", limits=_LIMITS, retries=0)
        with suppress(ModelError):
            found.append(LocalServer(program, url, tuple(Client(slot, clock=clock).list_models(cancel=cancel))))
    return found


def _slots_of_environment(environ: Mapping[str, str]) -> dict[str, Slot]:
    text = environ.get("OPENAI_BASE_URL", "").strip()
    if not text:
        return {}
    url = read_base_url(text, "OPENAI_BASE_URL")
    key = EnvironmentKey("OPENAI_API_KEY", environ) if environ.get("OPENAI_API_KEY", "").strip() else None
    model = environ.get("OPENAI_MODEL", "").strip()
    return {NARRATOR: Slot(NARRATOR, url, model=model, key=key, network=named_network(url.host))}


def _tables(path: Path) -> dict[str, Any]:
    """What `[models]` holds; empty where the file or the table is absent."""
    try:
        document = read_toml(path, "the file", any_value=True)
    except FileNotFoundError:
        return {}
    tables = (document.data or {}).get("models", {})
    if not is_table(tables):
        raise ParameterError(f"{path}: models", "is no table", cure="write [models.narrator]")
    for name in tables:
        if not re.fullmatch(r"[a-z][a-z0-9_-]{0,63}", name):
            raise ParameterError(f"{path}: models", f"{name!r} is no name of a slot", cure="use lower-case letters")
    return tables


def _checked(name: str, table: Any, place: str) -> dict[str, Any]:
    _check_keys(table, KEYS, place)
    _check_keys(table.get("timeouts", {}), _TIMEOUTS, f"{place}.timeouts")
    if "price" in table:
        _check_keys(table["price"], _PRICE, f"{place}.price", _PRICE_CURE)
        for key in ("prompt", "completion"):
            if key not in table["price"]:
                raise ParameterError(f"{place}.price.{key}", "is missing", cure=_PRICE_CURE)
    if fault := sampling_fault(table.get("sampling", {})):
        raise ParameterError(f"{place}.sampling", fault)
    for key, cure in _OF_EMBEDDING.items() if name != EMBEDDING else ():
        if key in table:
            raise ParameterError(f"{place}.{key}", "only the embedding slot has one", cure=_meant(name) or cure)
    checked: dict[str, Any] = table
    return checked


def _check_keys(table: Any, keys: Mapping[str, Key], place: str, cure: str = "") -> None:
    if not is_table(table):
        raise ParameterError(place, "must be a table")
    for fault in key_faults(table, keys):
        key = str(fault.path[-1])
        if fault.on == "key" and key.lower() in _SECRETS:
            cure = 'write key_env = "NAME" or key_file = "a file of mode 0600", and take the key out of this file'
            raise ParameterError(f"{place}.{key}", "a key is not kept in this file", cure=cure)
        cure = fault.cure or (_PRICE_CURE if key == "price" else cure)
        raise ParameterError(f"{place}.{key}", fault.what, cure=cure)


def _provided(table: Mapping[str, Any], place: str) -> ProviderSettings | None:
    """The provider that embeds in place of an endpoint, when the embedding table names one."""
    if "provider" not in table:
        return None
    if others := sorted(table.keys() - _OF_A_PROVIDER):
        cure = "a provider has no endpoint: keep provider, model, batch, store and prefixes, or take provider away"
        raise ParameterError(f"{place}.{others[0]}", "is given beside provider", cure=cure)
    return ProviderSettings(**table)


def _slot(
    name: str, own: Mapping[str, Any], narrator: Mapping[str, Any], path: Path, environ: Mapping[str, str] | None
) -> Slot:
    place = f"{path}: models.{name}"
    inherited = _inherited(name, own, narrator)
    values = {**inherited, **own}
    if "store" in values:
        raise ParameterError(f"{place}.store", "is given without provider", cure="the home keeps an endpoint's vectors")
    if "base_url" not in values:
        cure = f"write it there, or in [models.{NARRATOR}] for all slots"
        if name == EMBEDDING:
            cure = f'write provider = "{LOCAL}" for the model of the semantic extra, or the base_url of an endpoint'
        raise ParameterError(f"{place}.base_url", "is missing", cure=_meant(name) or cure)
    if "key_env" in own and "key_file" in own:
        raise ParameterError(f"{place}.key_file", "is given beside key_env", cure="keep one of the two")
    url = read_base_url(values.pop("base_url"), f"{place}.base_url")
    values.setdefault("network", named_network(url.host))
    key: KeySource | None = None
    if variable := values.pop("key_env", ""):
        key = EnvironmentKey(variable, environ)
    if file := values.pop("key_file", ""):
        key = FileKey(path.parent / Path(file).expanduser())
    values["limits"] = TimeLimits(**{**inherited.get("timeouts", {}), **values.pop("timeouts", {})})
    if "price" in values:
        values["price"] = Price(**values["price"])
    return Slot(name, url, key=key, **values)


def _inherited(name: str, own: Mapping[str, Any], narrator: Mapping[str, Any]) -> dict[str, Any]:
    """What the narrator's table gives. With an endpoint of its own a slot gets nothing: least of all the key."""
    if "base_url" in own:
        return {}
    left_out = {"key_env", "key_file"} if "key_env" in own or "key_file" in own else set[str]()
    if own.get("model", narrator.get("model")) != narrator.get("model"):
        left_out |= _OF_THE_MODEL
    if name == EMBEDDING:
        left_out |= narrator.keys() - _OF_THE_ENDPOINT
    return {key: value for key, value in narrator.items() if key not in left_out}


def _meant(name: str) -> str:
    """The question whether a known slot was meant; empty for one that is known, or like none."""
    if name in SLOTS or not (near := nearest(name, SLOTS)):
        return ""
    return f"did you mean [models.{near}]?"

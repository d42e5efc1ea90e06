"""The tables `[models.<slot>]` of `talekeeper.toml`: their keys and types, and a sentence for each mistake."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from talekeeper.errors import ParameterError
from talekeeper.models.chat import sampling_fault
from talekeeper.models.slots import BATCH, LOCAL, JsonMode, Provided
from talekeeper.models.urls import Network

_Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]
_Prefix = Annotated[str, Field(max_length=200)]
_Amount = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
_KEY_WORDS = {"key", "api_key", "apikey", "api-key", "token", "secret", "password", "authorization"}
_CURES = {
    "query_prefix": 'write what the model wants before a question, as in query_prefix = "query: "',
    "passage_prefix": 'write what the model wants before a passage, as in passage_prefix = "passage: "',
}
_OF_A_PROVIDER = {"provider", "model", "batch", "store", "query_prefix", "passage_prefix"}
_STRICT = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True, populate_by_name=False)


class Timeouts(BaseModel):
    """`timeouts = { … }`, in seconds; what is absent has its default."""

    model_config = _STRICT

    connect: _Seconds | None = None
    first: _Seconds | None = None
    between: _Seconds | None = None
    total: _Seconds | None = None


class PriceTable(BaseModel):
    """`price = { … }`, of a million tokens."""

    model_config = _STRICT

    prompt: _Amount
    completion: _Amount
    currency: Annotated[str, Field(min_length=1, max_length=8, pattern=r"^[^\s\p{C}]+$")] = "USD"


class SlotTable(BaseModel):
    """One table; what is absent comes from the narrator's or has its default."""

    model_config = _STRICT

    base_url: str | None = None
    model: Annotated[str, Field(min_length=1, max_length=300)] | None = None
    key_env: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    key_file: Annotated[str, Field(min_length=1)] | None = None
    network: Network | None = None
    context: Annotated[int, Field(ge=256, le=100_000_000)] | None = None
    reply: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    timeouts: Timeouts | None = None
    retries: Annotated[int, Field(ge=0, le=10)] | None = None
    tools: bool | None = None
    json_mode: Annotated[JsonMode | None, Field(alias="json")] = None
    stream: bool | None = None
    usage: bool | None = None
    reply_parameter: Literal["max_tokens", "max_completion_tokens"] | None = None
    batch: Annotated[int, Field(ge=1, le=2048)] | None = None
    query_prefix: _Prefix | None = None
    passage_prefix: _Prefix | None = None
    provider: Annotated[str, Field(pattern=r"^(local|[a-z][a-z0-9-]{0,63}/[a-z][a-z0-9_-]{0,63})$")] | None = None
    store: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,63}/[a-z][a-z0-9_-]{0,63}$")] | None = None
    price: PriceTable | None = None
    thinks: bool | None = None
    sampling: dict[str, Any] | None = None

    @field_validator("sampling")
    @classmethod
    def _plain(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        if fault := sampling_fault(value or {}):
            raise ValueError(fault)
        return value


def read_table(value: object, field: str) -> SlotTable:
    """The table, checked; raises `ParameterError` for its first mistake and never shows a value."""
    try:
        return SlotTable.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    raise _explained(first["loc"], first["type"], first["msg"], field)


def _explained(path: tuple[int | str, ...], kind: str, message: str, field: str) -> ParameterError:
    name = str(path[-1]) if path else ""
    place = ".".join([field, *map(str, path)])
    if kind == "extra_forbidden":
        if name.lower() in _KEY_WORDS:
            cure = 'write key_env = "NAME" or key_file = "a file of mode 0600", and take the key out of this file'
            return ParameterError(place, "a key is not kept in this file", cure=cure)
        return ParameterError(place, "this key is not known", cure=_did_you_mean(name, path[0]))
    if kind == "model_type":
        message = "must be a table"
    if path[:1] == ("price",):
        if kind == "string_pattern_mismatch":
            message = "must be without blanks, and all of it seen"
        cure = 'write price = { prompt = 0.5, completion = 1.5, currency = "USD" }, per million tokens'
        return ParameterError(place, _lowered(message), cure=cure)
    if name in {"provider", "store"} and kind == "string_pattern_mismatch":
        known = 'write "plugin/name"' if name == "store" else 'write "local", or "plugin/name"'
        return ParameterError(place, f"is no name of a {name}", cure=known)
    if kind == "string_pattern_mismatch":
        return ParameterError(place, "is not the name of an environment variable", cure="write its name, not the key")
    return ParameterError(place, _lowered(message), cure=_CURES.get(name, ""))


def _lowered(message: str) -> str:
    message = message.removeprefix("Value error, ").replace("Input should be", "must be", 1)
    message = message.replace("String should have", "must have", 1)
    return message[:1].lower() + message[1:]


def _did_you_mean(name: str, outer: int | str) -> str:
    """The nearest key of the table it stood in; `outer` is that table's, or the name itself."""
    inner: dict[int | str, type[BaseModel]] = {"timeouts": Timeouts, "price": PriceTable}
    fields = (SlotTable if outer == name else inner.get(outer, SlotTable)).model_fields
    known = [field.alias or key for key, field in fields.items()]
    near = get_close_matches(name, known, n=1)
    return f'did you mean "{near[0]}"?' if near else f"known are {', '.join(known)}"


def read_provided(table: SlotTable, place: str) -> Provided:
    """What a table with a `provider` says; raises `ParameterError` for what does not go with one."""
    given = set(table.model_dump(exclude_none=True, by_alias=True))
    if others := sorted(given - _OF_A_PROVIDER):
        cure = "a provider has no endpoint: keep provider, model, batch, store and prefixes, or take provider away"
        raise ParameterError(f"{place}.{others[0]}", "stands beside provider", cure=cure)
    return Provided(
        table.provider or LOCAL,
        table.model or "",
        table.batch or BATCH,
        table.store or "",
        table.query_prefix or "",
        table.passage_prefix or "",
    )

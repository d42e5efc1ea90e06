"""What turns texts into vectors and what keeps vectors elsewhere, by name: the kernel's own and those of plugins.

A plugin's provider is called `plugin/name`; its code is loaded when the provider is first needed, and runs under the
guard like all code of a plugin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from talekeeper.errors import ParameterError, PluginError

if TYPE_CHECKING:
    from talekeeper.plugins.host import Host

T = TypeVar("T")

Embed = Callable[[Sequence[str], str], Sequence[Sequence[float]]]
"""`embed(texts, model)` gives one vector for each text, in order, all of one length."""


@dataclass(frozen=True, slots=True)
class EmbeddingProvider:
    """`version` changes whenever the same text would get another vector: all vectors are then made again."""

    name: str
    version: str
    embed: Embed
    list_models: Callable[[], Sequence[str]]


@dataclass(frozen=True, slots=True)
class VectorStore:
    """Keeps vectors by key, outside the home's database.

    `get(keys)` gives those that are there; `upsert(vectors)` writes by key; `list(after, limit)` gives keys in order
    behind `after`; `remove(keys)` takes them away, unknown ones too; `prune(prefix)` takes away all keys that do not
    begin with it, and gives how many.
    """

    name: str
    get: Callable[[Sequence[str]], Mapping[str, Sequence[float]]]
    upsert: Callable[[Mapping[str, Sequence[float]]], None]
    list: Callable[[str, int], Sequence[str]]
    remove: Callable[[Sequence[str]], None]
    prune: Callable[[str], int]


class Providers:
    """A registry of one home. Registering gives a function that takes the registration back."""

    def __init__(self) -> None:
        self._embedding: dict[str, EmbeddingProvider] = {}
        self._stores: dict[str, VectorStore] = {}

    def register_embedding_provider(
        self,
        name: str,
        *,
        version: str,
        embed: Embed,
        models: Sequence[str] = (),
        list_models: Callable[[], Sequence[str]] | None = None,
    ) -> Callable[[], None]:
        """Exactly one of `models` and `list_models` says what there is; raises `ParameterError` for anything else."""
        _check_name(name, self._embedding, "embedding provider")
        _check_functions(name, {"embed": embed, **({} if list_models is None else {"list_models": list_models})})
        if not isinstance(cast("object", version), str) or not version:
            raise ParameterError(f"{name}.version", "it is no text", cure="say which version makes the vectors")
        if bool(models) == (list_models is not None):
            raise ParameterError(f"{name}.models", "neither or both of models and list_models are given")
        offered = tuple(models)
        found = EmbeddingProvider(name, version, embed, list_models or (lambda: offered))
        return _register(self._embedding, name, found)

    def register_vector_store(
        self,
        name: str,
        *,
        get: Callable[[Sequence[str]], Mapping[str, Sequence[float]]],
        upsert: Callable[[Mapping[str, Sequence[float]]], None],
        list: Callable[[str, int], Sequence[str]],  # noqa: A002 -- the operation's own name
        remove: Callable[[Sequence[str]], None],
        prune: Callable[[str], int],
    ) -> Callable[[], None]:
        """Raises `ParameterError` for a name that is taken and for what is no function."""
        _check_name(name, self._stores, "vector store")
        given = {"get": get, "upsert": upsert, "list": list, "remove": remove, "prune": prune}
        _check_functions(name, given)
        return _register(self._stores, name, VectorStore(name, get, upsert, list, remove, prune))

    def embedding(self, name: str) -> EmbeddingProvider | None:
        """The provider of that name."""
        return self._embedding.get(name)

    def store(self, name: str) -> VectorStore | None:
        """The vector store of that name."""
        return self._stores.get(name)


def _register(held: dict[str, T], name: str, found: T) -> Callable[[], None]:
    held[name] = found

    def unregister() -> None:
        if held.get(name) is found:
            del held[name]

    return unregister


def _check_name(name: object, held: Mapping[str, object], what: str) -> None:
    if not isinstance(name, str) or not name.strip():
        raise ParameterError("name", f"the name of the {what} is no text")
    if name in held:
        raise ParameterError("name", f"there is a {what} {name!r} already", cure="unregister it first")


def _check_functions(name: str, functions: Mapping[str, Any]) -> None:
    for label, function in functions.items():
        if not callable(function):
            raise ParameterError(f"{name}.{label}", f"it is {type(function).__name__}, not a function")


def provider_functions(host: Host, plugin_id: str, name: str, *, operation: str, noun: str) -> Mapping[str, Any]:
    """What a plugin registered under the name of a provider that has this operation; raises `PluginError`.

    `noun` says what is looked for: `vector store`.
    """
    plugin = host.roster().by_id.get(plugin_id)
    if plugin is None or not plugin.works:
        reason = f"it is {plugin.state}: {plugin.reason}" if plugin else "it is not installed"
        raise PluginError(reason, where=plugin_id, cure=f"enable it, or name another {noun}")
    found: Mapping[str, Any] | None = host.functions(plugin).get(("providers", name))
    if found is None or operation not in found:
        raise PluginError(f"it has no {noun} {name!r}", where=plugin_id, plugin=plugin_id)
    return found

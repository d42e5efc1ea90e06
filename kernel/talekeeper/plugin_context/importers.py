"""Reads a file into a plugin's namespaces through one of its importers, a batch of records at a time.

Run again over the same file it writes nothing twice: a record that is there with the same value is left, one that
differs is kept as it is unless replacing is asked for, and one that was withdrawn or forgotten does not come back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from talekeeper.db import Tx
from talekeeper.errors import InputError, LimitReached, NotFound, ParameterError, PluginError, UserError
from talekeeper.exchange import opened
from talekeeper.manifest import Namespace, matches
from talekeeper.plugin_context.bound import Bound
from talekeeper.plugin_context.calls import CallContext, bind, working_plugin
from talekeeper.plugin_context.records import VALUE_BYTES
from talekeeper.plugin_types import Importer, Record, thaw
from talekeeper.plugins import Call, Plugin
from talekeeper.services import Services
from talekeeper.story import Address, check_name, check_value

_AT_ONCE = 50


@dataclass
class Imported:
    """How an import went, as keys in the file's order, `namespace/key`.

    `kept` are there already and differ, `gone` were withdrawn or forgotten before, `left_out` has (what, why).
    """

    importer: str
    added: list[str] = field(default_factory=list[str])
    replaced: list[str] = field(default_factory=list[str])
    unchanged: list[str] = field(default_factory=list[str])
    kept: list[str] = field(default_factory=list[str])
    gone: list[str] = field(default_factory=list[str])
    left_out: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def skipped(self, what: str, why: str) -> None:
        """See `plugin_types.ImportReport`."""
        self.left_out.append((str(what)[:200], str(why)[:300]))


def importers_for(services: Services, address: Address, name: str) -> list[str]:
    """`plugin/importer` of every working plugin's importer whose patterns match a file name, in the plugins' order.

    An address without a session means the plugins of the workspace.
    """
    return [path for path, plugin in _matching(services, address, name) if plugin.works]


def importers_aside(services: Services, address: Address, name: str) -> dict[str, str]:
    """The same of plugins that are there and do not work, each with the reason."""
    return {path: plugin.reason for path, plugin in _matching(services, address, name) if not plugin.works}


def _matching(services: Services, address: Address, name: str) -> Iterator[tuple[str, Plugin]]:
    session = None
    if address.session:
        services.host.ready(address)
        session = services.story.sessions.get(address)
    for plugin in services.host.roster(address.workspace, session).plugins:
        for entry in plugin.manifest.contributes.get("importers", ()) if plugin.manifest else ():
            if any(matches(name.casefold(), pattern.casefold()) for pattern in entry["match"]):
                yield f"{plugin.id}/{entry['id']}", plugin


def run_importer(
    services: Services,
    address: Address,
    path: str,
    file: Path,
    *,
    stream: BinaryIO | None = None,
    replace: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Imported:
    """Reads `file` with the importer `plugin/importer`; what is written is a person's act and holds on every branch.

    `stream` is its content where it is open already, as what came through a pipe is. `progress` is told how many
    records the file has given. Raises as `run_command` does, ImportFileError for a file that cannot be opened, and
    LimitReached; what was read before stays.
    """
    plugin, name = working_plugin(services, address, path, "importers")
    function: Importer = services.host.functions(plugin)["importers", name]
    bound = bind(services, plugin, address)
    context = CallContext(bound)
    report = Imported(path)
    call = Call(plugin.id, f"importer {name}", services.host.guard.deadlines.importer)
    writer = _Writer(bound, report, replace=replace)
    with opened(str(file)) if stream is None else nullcontext(stream) as content:
        content.seek(0)
        steps = services.host.guard.iterate(
            call, lambda: map(partial(_checked, bound), function(context, content, report)), context
        )
        batch: list[Record] = []
        try:
            for number, record in enumerate(steps, start=1):
                batch.append(record)
                if len(batch) == _AT_ONCE:
                    full, batch = batch, []
                    writer.write(full)
                    if progress is not None:
                        progress(number)
        finally:
            writer.write(batch)
    return report


def import_lore(
    services: Services,
    address: Address,
    file: Path,
    *,
    stream: BinaryIO | None = None,
    importer: str | None = None,
    replace: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Imported:
    """Reads a file with `plugin/importer`, or with the first of the session's importers that does not refuse it.

    `stream` and `progress` are those of `run_importer`. Raises `NotFound` when no plugin that works there claims such
    files, else what the importer raises.
    """
    names = [importer] if importer else importers_for(services, address, file.name)
    refusals: list[str] = []
    for name in names:
        try:
            return run_importer(services, address, name, file, stream=stream, replace=replace, progress=progress)
        except UserError as refusal:
            refusals.append(f"{name} says {refusal.what}")
    if not refusals:
        cure = "talekeeper plugins list shows which plugins there are"
        raise NotFound("no plugin of the session reads such files", where=str(file), cure=cure)
    raise InputError("; ".join(refusals), where=str(file))


class _Writer:
    def __init__(self, bound: Bound, report: Imported, *, replace: bool) -> None:
        self._records = bound.story.records
        self._bound = bound
        self._report = report
        self._replace = replace

    def write(self, batch: list[Record]) -> None:
        """Writes what fits its schema, in one transaction, and notes what became of each record."""
        fitting = [(namespace, record) for record in batch if (namespace := self._fits(record)) is not None]
        fates: list[str] = []

        def write(tx: Tx) -> LimitReached | None:
            fates.clear()
            for namespace, record in fitting:
                try:
                    fates.append(self._put(tx, namespace, record))
                except LimitReached as error:
                    return error
            return None

        full = self._bound.story.write(write, name=f"import with {self._report.importer}") if fitting else None
        for fate, (_, record) in zip(fates, fitting, strict=False):
            getattr(self._report, fate).append(f"{record.namespace}/{record.key}")
        if full is not None:
            raise full

    def _fits(self, record: Record) -> Namespace | None:
        namespace = self._bound.own(record.namespace)
        try:
            check_name(record.key, "key")
            check_value(namespace, record.value)
        except ParameterError as error:
            self._report.skipped(f"{record.namespace}/{record.key}", str(error))
            return None
        return namespace

    def _put(self, tx: Tx, namespace: Namespace, record: Record) -> str:
        scope = self._bound.scope(namespace)
        live = self._records.get(namespace, scope, record.key, tx=tx)
        if live is not None and live.value == record.value:
            return "unchanged"
        if live is not None and (namespace.append_only or not self._replace):
            return "kept"
        before = self._records.history(namespace, scope, record.key, tx=tx)
        if live is None and any(one.forgotten or (one.withdrawn and not self._replace) for one in before):
            return "gone"
        self._records.put(namespace, scope, record.key, record.value, person=True, tx=tx)
        return "added" if live is None else "replaced"


def _checked(bound: Bound, given: Any) -> Record:
    if not isinstance(given, Record):
        raise PluginError(f"it yields {type(given).__name__}, where a Record is expected")
    bound.own(given.namespace)
    return Record(str(given.namespace), str(given.key), thaw(dict(given.value), limit=VALUE_BYTES))

"""The contribution points of this host, and the rules of each for what a schema cannot say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from talekeeper.config import Table
from talekeeper.manifest import codes
from talekeeper.manifest.diagnostic import Finding
from talekeeper.manifest.names import tool_key
from talekeeper.manifest.rules import data
from talekeeper.manifest.rules.point import Point, each, names_once, needs_code, schemas_hold
from talekeeper.text import is_array, quoted

_KERNEL_TOOLS = frozenset(map(tool_key, ("memory-search",)))


def _kernel_name(entry: Table) -> Iterator[Finding]:
    name = entry.text("name")
    if name is not None and tool_key(name) in _KERNEL_TOOLS:
        message = f"the tool name {name} is taken by the kernel"
        yield Finding(codes.KERNEL_TOOL, entry.at("name"), message)


def _description(entry: Table) -> Iterator[Finding]:
    description = entry.text("description")
    if description and len(description.strip()) < codes.LEAST_DESCRIPTION:
        message = "the description is all a model has to decide by; say what the tool does and when to use it"
        yield Finding(codes.THIN_DESCRIPTION, entry.at("description"), message)


_WHEN = ("cron", "time", "weekday", "tz")
_CRON_FIELDS = 5


def _schedule(entry: Table) -> Iterator[Finding]:
    on = entry.text("on")
    if on == "schedule" and "cron" not in entry and "time" not in entry:
        message = "a schedule without a time: give cron, or time with or without weekday"
        yield Finding(codes.NO_TIME, entry.at("on"), message)
    for key in ("time", "weekday"):
        if on == "schedule" and key in entry and "cron" in entry:
            yield Finding(codes.TWO_TIMES, entry.at(key), f"cron says when already, {key} contradicts it", on="key")
    for key in _WHEN:
        if on in {"turn-committed", "manual"} and key in entry:
            message = f'{key} means nothing for a job with on = "{on}"'
            yield Finding(codes.TIME_UNUSED, entry.at(key), message, on="key")


def _times(entry: Table) -> Iterator[Finding]:
    for key, fault in (("cron", cron_fault), ("tz", _zone_fault)):
        value = entry.text(key)
        reason = fault(value) if value else ""
        if reason:
            yield Finding(codes.BAD_TIME, entry.at(key), f"{key} is {quoted(value)}: {reason}")


def cron_fault(expression: str) -> str:
    """Why a cron expression is refused, "" when it has a next run."""
    from datetime import UTC, datetime  # noqa: PLC0415 - few manifests have a schedule

    from cronsim import CronSim, CronSimError  # noqa: PLC0415 - as above

    if len(expression.split()) != _CRON_FIELDS:
        return f"expected {_CRON_FIELDS} fields (minute, hour, day, month, weekday)"
    try:
        # From a leap year's first day the next run of any expression that has one is less than 50 years away.
        next(CronSim(expression, datetime(2000, 1, 1, tzinfo=UTC)))
    except CronSimError as error:
        return str(error).lower()
    except StopIteration:
        return "it never comes"
    return ""


def _zone_fault(name: str) -> str:
    import zoneinfo  # noqa: PLC0415 - as above

    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return 'expected a name of the IANA time zone database, such as "Europe/London"'
    return ""


def _is_of(value: Any, kind: str) -> bool:
    if kind == "boolean":
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    if kind == "integer":
        return isinstance(value, int)
    return isinstance(value, str) if kind == "string" else isinstance(value, (int, float))


def _number(entry: Table, key: str) -> float | None:
    value = entry.raw.get(key)
    return value if _is_of(value, "number") else None


def _range(entry: Table) -> Iterator[Finding]:
    kind = entry.text("type")
    for key in ("min", "max"):
        if key in entry and kind in {"boolean", "string"}:
            message = f"{key} is for numbers, and this setting is a {kind}"
            yield Finding(codes.SETTING_RANGE, entry.at(key), message, on="key")
    low, high = _number(entry, "min"), _number(entry, "max")
    if low is not None and high is not None and low > high:
        yield Finding(codes.SETTING_RANGE, entry.at("min"), f"min {low} is above max {high}")


def _choices(entry: Table) -> Iterator[Finding]:
    kind, choices = entry.text("type"), entry.raw.get("choices")
    for index, choice in enumerate(choices if is_array(choices) and kind else ()):
        if not _is_of(choice, kind or ""):
            message = f"the choice {quoted(choice)} is not of the setting's type, {kind}"
            yield Finding(codes.SETTING_RANGE, entry.at("choices", index), message)


def _default(entry: Table) -> Iterator[Finding]:
    reason = _misfit(entry)
    if reason:
        yield Finding(codes.DEFAULT_TYPE, entry.at("default"), f"the default {quoted(entry.raw['default'])} {reason}")


def _misfit(entry: Table) -> str:
    kind, value, choices = entry.text("type"), entry.raw.get("default"), entry.raw.get("choices")
    if kind not in {"boolean", "integer", "number", "string"} or not isinstance(value, (bool, int, float, str)):
        return ""
    if not _is_of(value, kind):
        return f"is not of the setting's type, {kind}"
    if is_array(choices) and value not in choices:
        return "is none of the choices"
    low, high, number = _number(entry, "min"), _number(entry, "max"), _number(entry, "default")
    if number is not None and low is not None and number < low:
        return f"is below min {low}"
    return f"is above max {high}" if number is not None and high is not None and number > high else ""


def _patterns(entry: Table) -> Iterator[Finding]:
    for path, pattern in entry.texts("match"):
        if "/" in pattern or "\\" in pattern or "**" in pattern:
            message = f"{quoted(pattern)} is compared with file names alone, so it can have no folders and no **"
            yield Finding(codes.MATCH_PATTERN, path, message)


_ALL = (
    Point(
        name="data",
        about="Records the plugin keeps, and which of them memory-search finds.",
        noun="namespace",
        rules=data.RULES,
        schema_key="schema",
    ),
    Point(
        name="tools",
        about="Functions the narrator's model may call.",
        noun="tool",
        rules=(names_once("name", tool_key), needs_code, schemas_hold("parameters"), each(_kernel_name, _description)),
        named_by="name",
        code=True,
        schema_key="parameters",
    ),
    Point(
        name="prompt",
        about="Segments of the narrator's prompt.",
        noun="prompt segment",
        rules=(names_once("id"), needs_code),
        named_by="id",
        code=True,
    ),
    Point(
        name="jobs",
        about="Work outside the turn.",
        noun="job",
        rules=(names_once("id"), needs_code, each(_schedule, _times)),
        named_by="id",
        code=True,
    ),
    Point(
        name="settings",
        about="What people may set; the settings page is drawn from it.",
        noun="setting",
        rules=(names_once("key"), each(_range, _choices, _default)),
        named_by="key",
    ),
    Point(
        name="commands",
        about="What people may run, from the command line or a form.",
        noun="command",
        rules=(names_once("id"), needs_code, schemas_hold("parameters")),
        named_by="id",
        code=True,
        schema_key="parameters",
    ),
    Point(
        name="importers",
        about="Files the plugin can read into its namespaces.",
        noun="importer",
        rules=(names_once("id"), needs_code, each(_patterns)),
        named_by="id",
        code=True,
    ),
    Point(
        name="providers",
        about="Embedding models and vector stores.",
        noun="provider",
        rules=(names_once("name"), needs_code),
        named_by="name",
        code=True,
    ),
)
POINTS: Mapping[str, Point] = MappingProxyType({it.name: it for it in _ALL})

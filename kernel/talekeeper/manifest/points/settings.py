"""`[[contributes.settings]]`: what people may set; the settings page is drawn from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from talekeeper.config import Table
from talekeeper.manifest.codes import contributions as codes
from talekeeper.manifest.diagnostic import Finding
from talekeeper.manifest.points.point import Point, Scene, kept_in
from talekeeper.manifest.points.shared import names_once
from talekeeper.text import is_array, quoted


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


def _ranges(scene: Scene) -> Iterator[Finding]:
    for entry in scene.entries:
        kind = entry.text("type")
        for key in ("min", "max"):
            if key in entry and kind in {"boolean", "string"}:
                yield Finding(
                    codes.SETTING_RANGE, entry.at(key), f"{key} is for numbers, and this setting is a {kind}", on="key"
                )
        low, high = _number(entry, "min"), _number(entry, "max")
        if low is not None and high is not None and low > high:
            yield Finding(codes.SETTING_RANGE, entry.at("min"), f"min {low} is above max {high}")


def _choices(scene: Scene) -> Iterator[Finding]:
    for entry in scene.entries:
        kind, choices = entry.text("type"), entry.raw.get("choices")
        for index, choice in enumerate(choices if is_array(choices) and kind else ()):
            if not _is_of(choice, kind or ""):
                message = f"the choice {quoted(choice)} is not of the setting's type, {kind}"
                yield Finding(codes.SETTING_RANGE, entry.at("choices", index), message)


def _defaults(scene: Scene) -> Iterator[Finding]:
    for entry in scene.entries:
        reason = _misfit(entry)
        if reason:
            yield Finding(
                codes.DEFAULT_TYPE, entry.at("default"), f"the default {quoted(entry.raw['default'])} {reason}"
            )


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


POINT = Point(
    name="settings",
    about="What people may set; the settings page is drawn from it.",
    noun="setting",
    shape=kept_in("talekeeper.manifest.model.settings"),
    rules=(names_once("key"), _ranges, _choices, _defaults),
    named_by="key",
)

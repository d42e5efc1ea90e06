"""Options drawn from a JSON Schema: one for each property, so that no command knows a plugin's data by heart."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import click

from talekeeper.cli.commands.completion import proposals
from talekeeper.db import loads
from talekeeper.errors import ParameterError
from talekeeper.exchange import read_text
from talekeeper.text import NotJson, read_foreign_json

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_PREFIX = "property_"
_TYPES: dict[str, click.ParamType[Any]] = {"string": click.STRING, "integer": click.INT, "number": click.FLOAT}

Schema = Mapping[str, Any]


class JsonOrText(click.ParamType[Any]):
    """What reads as JSON is JSON, everything else is the text itself."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value, parsed where it can be."""
        del param, ctx
        try:
            return read_foreign_json(value)
        except NotJson:
            return value


def fill_in(ctx: click.Context, name: str, arguments: Sequence[str], schema: Schema) -> dict[str, Any]:
    """The object that `arguments`, what the outer command left over, make of the options of `schema`.

    They are parsed as the command `name`, with `--help`. What was not given is absent.
    """
    properties: Mapping[str, Schema] = schema.get("properties", {})
    required = set(schema.get("required", ()))
    names = [one for one in properties if _NAME.fullmatch(one) and _flag(one) not in {"--value", "--file"}]
    options = [
        _option(f"{_PREFIX}{place}", one, properties[one], required=one in required) for place, one in enumerate(names)
    ]
    about = str(schema.get("description", ""))
    command = click.Command(name, params=[*options, *_WHOLE], help=about, callback=dict[str, Any])
    with command.make_context(f"{ctx.info_name} {name}", [*arguments], parent=ctx.parent) as inner:
        given: dict[str, Any] = command.invoke(inner)
    found = {one: given[f"{_PREFIX}{place}"] for place, one in enumerate(names)}
    return _whole_value(given["whole"], given["file"]) | {
        one: [*value] if isinstance(value, tuple) else value
        for one, value in found.items()
        if value is not None and value != ()
    }


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _option(param: str, name: str, schema: Schema, *, required: bool) -> click.Option:
    about = [str(schema["description"])] if "description" in schema else []
    about += ["(required)"] if required else []
    about += [f"[default: {_shown(schema['default'])}]"] if "default" in schema else []
    flag = _flag(name)
    text = " ".join(about)
    kind = schema.get("type")
    if kind == "boolean":
        return click.Option([param, f"{flag}/--no-{flag[2:]}"], default=None, help=text)
    if _is_choice(schema):
        return click.Option([param, flag], type=click.Choice(schema["enum"]), help=text)
    if kind == "array" and schema.get("items", {}).get("type") == "string":
        return click.Option([param, flag], multiple=True, help=f"{text} (may be repeated)".strip())
    return click.Option([param, flag], type=_TYPES.get(str(kind), JsonOrText()), help=text)


def _is_choice(schema: Schema) -> bool:
    return bool(schema.get("enum")) and all(isinstance(choice, str) for choice in schema["enum"])


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_WHOLE = (
    click.Option(["whole", "--value"], metavar="JSON", help="All of it as one JSON object."),
    click.Option(
        ["file", "--file"], metavar="FILE", type=click.Path(path_type=Path), help="All of it from a JSON file."
    ),
)


def _whole_value(whole: str | None, file: Path | None) -> dict[str, Any]:
    if whole is not None and file is not None:
        raise ParameterError("--value", "it cannot be given together with --file")
    where = "--value" if file is None else str(file)
    text = whole if file is None else read_text(str(file))
    if text is None:
        return {}
    value = loads(text, where)
    if not isinstance(value, dict):
        raise ParameterError(where, "it is not a JSON object", cure='write it as {"name": value, …}')
    return cast("dict[str, Any]", value)


def open_ended(metavar: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates a command whose options depend on its first argument: all it does not know arrives as `rest`."""
    return click.argument(
        "rest", nargs=-1, type=click.UNPROCESSED, metavar=metavar, shell_complete=proposals, callback=_or_help
    )


OPEN_ENDED: dict[str, Any] = {"context_settings": {"ignore_unknown_options": True}, "add_help_option": False}
"""Settings of such a command."""


def _or_help(ctx: click.Context, _: click.Parameter, rest: tuple[str, ...]) -> tuple[str, ...]:
    """Shows the command's own help when it is asked for before anything was named."""
    if rest and rest[0] in {"-h", "--help"}:
        click.echo(ctx.get_help())
        ctx.exit()
    return rest


def named(ctx: click.Context, rest: Sequence[str], what: str = "PLUGIN/NAMESPACE", cure: str = "") -> str:
    """The first of `rest`; a usage error when there is none or it is an option."""
    if not rest or not rest[0] or rest[0].startswith("-"):
        raise click.UsageError(f"{what} is missing" + (f"; {cure}" if cure else ""), ctx)
    return rest[0]

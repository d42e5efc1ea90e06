"""`validate-plugin`: checks manifests and says everything that is wrong with them, with file, line and cure.

A console script of its own as well as a command of `talekeeper`. What is heavy is imported once a target is known.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from talekeeper.cli.options import Common
from talekeeper.cli.terminal import drop, flush_or_drop, never_fail_to_print

if TYPE_CHECKING:
    from talekeeper.manifest import Report

_PROGRAM = "validate-plugin"
_STYLES: Mapping[str, dict[str, Any]] = {
    "place": {"bold": True},
    "error": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow", "bold": True},
    "hint": {"fg": "cyan"},
    "ok": {"fg": "green"},
    "dim": {"dim": True},
}


def _explain(ctx: click.Context, _: click.Parameter, name: str | None) -> None:
    if name is None:
        return
    from talekeeper.config import did_you_mean  # noqa: PLC0415 - as above
    from talekeeper.manifest import BY_ID  # noqa: PLC0415 - as above

    code = BY_ID.get(name.upper())
    if code is None:
        hint = did_you_mean(name.upper(), BY_ID)
        raise click.BadParameter(f"there is no code {name!r}{'; ' + hint if hint else ''}")
    paragraphs = (f"{code.id} ({code.severity}): {code.title}", code.rule, code.cure)
    click.echo("\n\n".join(click.wrap_text(it, width=88) for it in paragraphs))
    ctx.exit(0)


def _print_schema(ctx: click.Context, _: click.Parameter, asked: bool) -> None:  # noqa: FBT001 - click calls it
    if asked:
        from talekeeper.manifest import published_text  # noqa: PLC0415 - as above

        click.echo(published_text(), nl=False)
        ctx.exit(0)


@click.command(
    _PROGRAM,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example:  validate-plugin lorebook/plugin.toml dist/lorebook-0.1.0-py3-none-any.whl",
)
@click.argument("targets", metavar="TARGET...", nargs=-1)
@click.option("--format", "form", type=click.Choice(["text", "json", "github"]), help="How to print.  [default: text]")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--strict", is_flag=True, help="Warnings count as findings.")
@click.option("--imports", is_flag=True, help="Also run the plugin's code and compare it with its manifest.")
@click.option("--api", type=click.IntRange(min=1), metavar="N", help="Check as a host of manifest level N would.")
@click.option(
    "--explain",
    metavar="CODE",
    is_eager=True,
    expose_value=False,
    callback=_explain,
    help="Explain a code and how to satisfy its rule.",
)
@click.option(
    "--print-schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_schema,
    help="Print the JSON Schema of manifests.",
)
@click.pass_context
def command(
    ctx: click.Context,
    targets: tuple[str, ...],
    form: str | None,
    api: int | None,
    *,
    as_json: bool,
    strict: bool,
    imports: bool,
) -> None:
    """Check a plugin's manifest.

    A TARGET is a plugin.toml, a folder, a wheel, or the name of an installed distribution. Exits with 0 when there is
    nothing to say, 1 when there are findings, 2 when a target cannot be read.
    """
    if not targets:
        raise click.UsageError("name at least one file, folder, wheel or installed distribution", ctx)
    reports = _reports(targets, _level(api), imports=imports)
    shared = ctx.find_object(Common)
    try:
        _print(reports, "json" if as_json or (shared and shared.as_json and not form) else form or "text")
    except BrokenPipeError:
        # Whoever read has seen enough, and what was found stands all the same.
        drop(sys.stdout)
    ctx.exit(_exit_code(reports, strict=strict))


def _reports(targets: Sequence[str], level: int, *, imports: bool) -> list[Report]:
    from talekeeper.manifest import check_target  # noqa: PLC0415 - --help needs no TOML

    reports = [check_target(target, level=level) for target in targets]
    if imports:
        from talekeeper.cli.commands.validate_code import with_code  # noqa: PLC0415 - only when asked to run code

        reports = [with_code(it) for it in reports]
    return reports


def _level(asked: int | None) -> int:
    from talekeeper.manifest import LEVEL  # noqa: PLC0415 - as above

    if asked is not None and asked > LEVEL:
        raise click.BadParameter(f"this Talekeeper knows levels up to {LEVEL}", param_hint="--api")
    return asked or LEVEL


def _print(reports: Sequence[Report], form: str) -> None:
    from talekeeper.manifest import as_document, as_github, as_text, unpainted  # noqa: PLC0415 - as above

    if form == "json":
        from talekeeper.cli.terminal import json_text  # noqa: PLC0415 - as above

        click.echo(json_text(as_document(reports)))
        return
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    paint = _paint if colour else unpainted
    for line in as_github(reports) if form == "github" else as_text(reports, paint):
        click.echo(line)


def _paint(text: str, style: str) -> str:
    return click.style(text, **_STYLES[style])


def _exit_code(reports: Sequence[Report], *, strict: bool) -> int:
    if any(report.unreadable for report in reports):
        return 2
    found = (it for report in reports for it in report.diagnostics)
    return 1 if any(strict or it.severity == "error" for it in found) else 0


def main() -> None:
    """The console script."""
    # A short run makes next to no garbage; looking for it as often as usual, and once more at the end, took a tenth.
    gc.set_threshold(100_000)
    never_fail_to_print()
    code = _outcome()
    gc.freeze()
    sys.exit(code)


def _outcome() -> int:
    code, fault = 0, None
    try:
        code = command.main(
            prog_name=_PROGRAM, standalone_mode=False, color=False if os.environ.get("NO_COLOR") else None
        )
    except click.ClickException as refusal:
        code = refusal.exit_code
        # Somebody who cannot be told is told by the exit code.
        with suppress(OSError):
            refusal.show()
    except (click.Abort, KeyboardInterrupt):
        # Not 1, which says that there are findings.
        from talekeeper.cli.faults import INTERRUPTED  # noqa: PLC0415 - hardly anybody interrupts

        code = INTERRUPTED
    except OSError as error:
        fault = error
        drop(sys.stdout)
    fault = fault or flush_or_drop()
    if fault is None or isinstance(fault, BrokenPipeError):
        return code
    click.echo(f"{_PROGRAM}: what it has to say cannot be written: {(fault.strerror or 'unknown').lower()}", err=True)
    return 2

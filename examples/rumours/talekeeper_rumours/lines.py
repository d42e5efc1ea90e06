"""The importer: plain text, one rumour a line, `who: what they say`; `#` begins a comment."""

import hashlib
from collections.abc import Iterator
from typing import BinaryIO

from talekeeper.api import ImportReport, PluginContext, Record, UserError

from .log import NAMESPACE, record_value

LONGEST = 1000


def read_lines(ctx: PluginContext, file: BinaryIO, report: ImportReport) -> Iterator[Record]:
    """Gives one record a line; the key comes from the words, so the same file twice gives the same keys."""
    for number, raw in enumerate(file, start=1):
        ctx.check()
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError as error:
            raise UserError(f"line {number} is not UTF-8; save the file as UTF-8 and import it again") from error
        if not line or line.startswith("#"):
            continue
        says, colon, text = line.partition(":")
        if not colon or not text.strip():
            report.skipped(f"line {number}", "it is not of the form `who: what they say`")
        elif len(text.strip()) > LONGEST:
            report.skipped(f"line {number}", f"it is longer than {LONGEST:,} characters")
        else:
            value = record_value(text, says)
            key = hashlib.blake2b(f"{says.strip()}\n{value['text']}".encode(), digest_size=8).hexdigest()
            yield Record(NAMESPACE, key, value)

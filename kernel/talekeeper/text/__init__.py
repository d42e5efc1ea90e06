"""Strings: their terms, dates and cuts, how they are shown, and strict JSON. Nothing here does I/O."""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.text.dates import date_words
    from talekeeper.text.frozen import FrozenDict, FrozenList, freeze, thaw
    from talekeeper.text.normalisation import normalise
    from talekeeper.text.printing import (
        BREAK,
        counted,
        listed,
        prompt_line,
        quoted,
        spelled,
        terminal_line,
        terminal_text,
        visible,
    )
    from talekeeper.text.segmentation import (
        cut_graphemes,
        estimate_tokens,
        grapheme_border,
        sentence_ends,
        token_quarters,
    )
    from talekeeper.text.strict_json import (
        EXACT_INTEGER,
        JSON_DEPTH_LIMIT,
        NotJson,
        check_text,
        digest,
        is_array,
        is_table,
        json_depth,
        json_fault,
        read_foreign_json,
        read_json,
        scan_json,
    )
    from talekeeper.text.tokens import (
        SINGLE,
        TOKENS_FINGERPRINT,
        Script,
        Terms,
        document_terms,
        everyday_terms,
        find_runs,
        paired_characters,
        query_terms,
        script_of,
    )
    from talekeeper.text.words import split_word
else:
    __getattr__ = lazy_face(__name__)

__all__ = [
    "BREAK",
    "EXACT_INTEGER",
    "JSON_DEPTH_LIMIT",
    "SINGLE",
    "TOKENS_FINGERPRINT",
    "FrozenDict",
    "FrozenList",
    "NotJson",
    "Script",
    "Terms",
    "check_text",
    "counted",
    "cut_graphemes",
    "date_words",
    "digest",
    "document_terms",
    "estimate_tokens",
    "everyday_terms",
    "find_runs",
    "freeze",
    "grapheme_border",
    "is_array",
    "is_table",
    "json_depth",
    "json_fault",
    "listed",
    "normalise",
    "paired_characters",
    "prompt_line",
    "query_terms",
    "quoted",
    "read_foreign_json",
    "read_json",
    "scan_json",
    "script_of",
    "sentence_ends",
    "spelled",
    "split_word",
    "terminal_line",
    "terminal_text",
    "thaw",
    "token_quarters",
    "visible",
]

"""Everything a string is asked for: its terms, its day, where it may be cut, whether it may be stored. No I/O."""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.text.characters import paired_characters
    from talekeeper.text.check import check_text, digest
    from talekeeper.text.dates import Day, date_words, read_day
    from talekeeper.text.estimate import estimate_tokens, token_quarters
    from talekeeper.text.graphemes import cut_graphemes, grapheme_border
    from talekeeper.text.normalisation import normalise
    from talekeeper.text.runs import Script, find_runs, script_of
    from talekeeper.text.sentences import sentence_ends
    from talekeeper.text.terms import Terms
    from talekeeper.text.tokens import SINGLE, TOKENS_FINGERPRINT, document_terms, everyday_terms, query_terms
    from talekeeper.text.words import split_word
else:
    __getattr__ = lazy_face(__name__)

__all__ = [
    "SINGLE",
    "TOKENS_FINGERPRINT",
    "Day",
    "Script",
    "Terms",
    "check_text",
    "cut_graphemes",
    "date_words",
    "digest",
    "document_terms",
    "estimate_tokens",
    "everyday_terms",
    "find_runs",
    "grapheme_border",
    "normalise",
    "paired_characters",
    "query_terms",
    "read_day",
    "script_of",
    "sentence_ends",
    "split_word",
    "token_quarters",
]

"""What the wording of a text tells: whether it is hedged, and whether two similar texts say different things. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator

from talekeeper.api import Authority

_HEDGES = (
    "apparently|appears? to|as if|as though|could (?:be|have)|allegedly|i think|i guess|it is said|"
    "guess(?:es|ed)?|likely|maybe|may (?:be|have)|might|perhaps|possibly|presumably|probably|reportedly|rumou?rs?|"
    "rumou?red|seem(?:s|ed|ing|ingly)?|supposedly|suspects?|suspected|uncertain|unclear|unsure|not sure"
)
# Chinese and Japanese have no spaces between words. Markers that stand inside ordinary words are left out, or say
# what may not stand beside them: 可能 but not 不可能, 也许, 大概 but not 大概念.
_HEDGES_CJK = (
    "(?<!不)可能(?!性为零)|也许|或许|大概(?!念|率)|似乎|好像|看来|看似|恐怕|说不定|未必|据说|听说|据传|传闻|"
    "疑似|怀疑|猜测|推测|估计|应该是|不确定|仿佛|也許|或許|看來|說不定|據說|聽說|據傳|傳聞|懷疑|猜測|推測|估計|應該是|不確定|彷彿|"
    "かもしれ|だろう|でしょう|(?<!すば)(?<!素晴)(?<!愛)(?<!あた)らしい|ようだ|ようです|みたいだ|おそらく|恐らく|たぶん|多分|"
    "아마|듯하|것 같|모양이"
)
_HEDGED = re.compile(rf"(?<![\w-])(?:{_HEDGES})(?![\w-])|{_HEDGES_CJK}", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_UP_TO_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_OTHER_NUMBERS = {
    "once": "1", "twice": "2", "both": "2", "thrice": "3", "dozen": "12", "thirty": "30", "forty": "40", "fifty": "50",
    "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90", "hundred": "100", "thousand": "1000", "half": "1/2",
    "first": "1st", "second": "2nd", "third": "3rd", "fourth": "4th", "fifth": "5th",
}  # fmt: skip
_NUMBER_WORDS = {word: str(number) for number, word in enumerate(_UP_TO_TWENTY.split(" "))} | _OTHER_NUMBERS
_HAN_NUMBER = re.compile("[〇零一二两三四五六七八九十百千万亿兩萬億半]+")
_NEGATED = re.compile(
    r"(?<![\w'’])(?:no|not|never|none|nobody|nothing|nowhere|neither|nor|without|cannot|refus(?:e|es|ed)|"
    r"den(?:y|ies|ied)|fail(?:s|ed)? to|hardly|barely)(?![\w-])|\w+n['’]t(?!\w)|"
    "不|没|沒|無|无(?!论)|未(?!来|來)|别(?!人|的)|非(?!常)|否认|拒绝|拒絕|"
    "ない|ません|なかった|ず[。、]|안 |않|없|못",
    re.IGNORECASE,
)
# Capitalised at the beginning of a sentence without being names.
_SMALL_WORDS = """
a an and as at after all although any because before both but by each every everyone for from he her here his how i if
in it its later many most my no nobody not nothing now of on once one only or our she since so some someone that the
their them then there these they this those though to today until we what when where which while who why with without
yes you your
"""
_COMMON = frozenset(_SMALL_WORDS.split())


def authority_of(text: str) -> Authority:
    """`inferred` for hedged wording, on word boundaries ("unlikely" is not "likely"), else `story`."""
    return "inferred" if _HEDGED.search(text) else "story"


def differ(one: str, other: str, known: Collection[str] = ()) -> str:
    """What the texts differ in, `names`, `numbers` or `negation`; empty when in none of them.

    No threshold of likeness tells "Mara promised to come" from "Aldric promised to come", "3 coins" from "5 coins" or
    "trusts" from "does not trust"; these three questions do. `known` are names to look for in any script; beside
    them a capitalised word counts as a name.
    """
    if _names_differ(one, other, known):
        return "names"
    if sorted(_numbers(one)) != sorted(_numbers(other)):
        return "numbers"
    if len(_NEGATED.findall(one)) % 2 != len(_NEGATED.findall(other)) % 2:
        return "negation"
    return ""


def each_says_more(one: Collection[str], other: Collection[str]) -> bool:
    """Whether each of two texts, given by its content terms, has one that the other lacks: purple and cyan.

    Such texts are two facts, however much else they share; of a text that only says less, nothing is lost.
    """
    return bool(set(one) - set(other)) and bool(set(other) - set(one))


def _names_differ(one: str, other: str, known: Collection[str]) -> bool:
    first, second = _names(one, known), _names(other, known)
    if set(first) == set(second):
        # The same names the other way round: who trusts whom.
        return first != second
    # "The ship sank" and "Ships sank" differ in no name: what one capitalises, the other writes small.
    left, right = _words(one, small=True), _words(other, small=True)
    return bool(set(first) - set(second) - right or set(second) - set(first) - left)


def _names(text: str, known: Collection[str]) -> list[str]:
    """Names in the order of their first appearance, small letters, each once."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    found = [(at, name.casefold()) for name in known if (at := _find(folded, name.casefold())) >= 0]
    inside = {word for _, name in found for word in _words(name)}
    for match in _WORD.finditer(text):
        word = _bare(match[0])
        if match[0][0].isupper() and word not in _COMMON and word not in _NUMBER_WORDS and word not in inside:
            found.append((match.start(), word))
    return list(dict.fromkeys(name for _, name in sorted(found)))


def _find(text: str, name: str) -> int:
    if not name:
        return -1
    if not name[0].isascii():
        return text.find(name)
    match = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
    return match.start() if match else -1


def _numbers(text: str) -> Iterator[str]:
    for match in _NUMBER.finditer(text):
        yield match[0].replace(",", "")
    for match in _WORD.finditer(text):
        if match[0].casefold() in _NUMBER_WORDS:
            yield _NUMBER_WORDS[match[0].casefold()]
    yield from _HAN_NUMBER.findall(text)


def _words(text: str, *, small: bool = False) -> set[str]:
    """The words, or those alone that are not capitalised."""
    return {_bare(match[0]) for match in _WORD.finditer(text) if not small or match[0][0].islower()}


def _bare(word: str) -> str:
    word = word.casefold().replace("’", "'")
    return word.removesuffix("'s").removesuffix("'")

"""Words and numbers → terms: a run's tokens, their stems, and the words that a query does not look for.

Irregular forms of English come from a table, everything else from Snowball. No step asks whether a word is English:
sessions in several languages share statistics, so the term of a word may depend on the word alone.
"""

from __future__ import annotations

import re
from functools import lru_cache
from threading import Lock

import Stemmer

TOKEN_LIMIT = 64
_THOUSANDS = re.compile(r"(?<![0-9])[0-9]{1,3}(?:,[0-9]{3})++(?![0-9])")
_ORDINAL = re.compile(r"([0-9]+)(?:st|nd|rd|th|s)")
_LETTERS_AND_DIGITS = re.compile(r"([a-z]+)([0-9]+)|([0-9]+)([a-z]+)")
_JOINS = re.compile(r"[.:/-]")


def split_word(run: str) -> tuple[str, ...]:
    """The tokens of a `Script.WORD` run, each at most `TOKEN_LIMIT` characters.

    A number of several parts is itself and its parts; `1st` and `1990s` are their number; letters and digits with one
    border between them (`abc123`, `5km`) are themselves and both parts.
    """
    if run.isalpha():
        return (run[:TOKEN_LIMIT],)
    if "'" in run:
        run = run.rstrip("'").removesuffix("'s").replace("'", "")
    elif not run.isalnum() and run[0].isdigit():
        return _number(run)
    return _mixed(run[:TOKEN_LIMIT])


def _number(run: str) -> tuple[str, ...]:
    if "," in run:
        run = _THOUSANDS.sub(lambda found: found[0].replace(",", ""), run)
    tokens: list[str] = []
    for number in run.split(","):
        parts = _JOINS.split(number)
        tokens += [number, *parts] if len(parts) > 1 else parts
    return tuple(token[:TOKEN_LIMIT] for token in tokens)


def _mixed(token: str) -> tuple[str, ...]:
    if ordinal := _ORDINAL.fullmatch(token):
        return (ordinal[1],)
    if border := _LETTERS_AND_DIGITS.fullmatch(token):
        return (token, *filter(None, border.groups()))
    return (token,)


def word_terms(run: str) -> tuple[str, ...]:
    """The terms of a `Script.WORD` run: its tokens, stemmed."""
    return _kept_terms(run) if len(run) <= TOKEN_LIMIT else _terms(run)  # longer than any word is not worth keeping


def _terms(run: str) -> tuple[str, ...]:
    return tuple(map(stem, split_word(run)))


_kept_terms = lru_cache(1 << 13)(_terms)  # texts repeat their words, with other signs around them

# Left out are forms that are oftener another word: left, rose, ground, wound, bore, lay, bit, lives, leaves.
_FORMS = """
be am is are was were been being; have has had having; do does did done; go goes went gone
arise arose arisen; awake awoke awoken; beat beaten; become became; begin began begun; bend bent; bite bitten
bleed bled; blow blew blown; break broke broken; breed bred; bring brought; build built; burn burnt; buy bought
catch caught; choose chose chosen; cling clung; come came; creep crept; deal dealt; dig dug; draw drew drawn
dream dreamt; drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt; fight fought
find found; flee fled; fling flung; fly flew flown; forbid forbade forbidden; forget forgot forgotten
forgive forgave forgiven; freeze froze frozen; get got gotten; give gave given; grow grew grown; hang hung; hear heard
hide hid hidden; hold held; keep kept; kneel knelt; know knew known; lay laid; lead led; leap leapt; learn learnt
lend lent; light lit; lose lost; make made; mean meant; meet met; mistake mistook mistaken; overcome overcame; pay paid
ride rode ridden; ring rang; run ran; say said; see saw seen; seek sought; sell sold; send sent; sew sewn
shake shook shaken; shine shone; shoot shot; show shown; shrink shrank shrunk; sing sang sung; sink sank sunk; sit sat
sleep slept; slide slid; sling slung; sow sown; speak spoke spoken; spell spelt; spend spent; spill spilt; spin spun
spoil spoilt; spring sprang sprung; stand stood; steal stole stolen; stick stuck; sting stung; stink stank stunk
strike struck stricken; string strung; strive strove striven; swear swore sworn; sweep swept; swell swollen
swim swam swum; swing swung; take took taken; teach taught; tear tore torn; tell told; think thought; throw threw thrown
tread trod trodden; understand understood; undertake undertook undertaken; undo undid undone; wake woke woken
wear wore worn; weave wove woven; weep wept; win won; withdraw withdrew withdrawn; wring wrung; write wrote written
man men; woman women; child children; foot feet; tooth teeth; goose geese; mouse mice; louse lice; ox oxen; wife wives
knife knives; wolf wolves; half halves; shelf shelves; loaf loaves; thief thieves; calf calves; elf elves
dwarf dwarves; scarf scarves; hoof hooves
"""
# Stems that two spellings of English leave apart: colour, colours and coloured all stem to colour.
_SPELLINGS = """
color colour; favor favour; favorit favourit; honor honour; neighbor neighbour; harbor harbour; armor armour
behavior behaviour; labor labour; rumor rumour; savior saviour; vapor vapour; gray grey; theater theatr; center centr
meter metr; defens defenc; mom mum
"""


def _table(groups: str) -> dict[str, str]:
    """`base form form; base form` on any number of lines → form to base."""
    rows = (row.split() for line in groups.split("\n") for row in line.split(";") if row.strip())
    return {form: base for base, *forms in rows for form in forms}


_IRREGULAR = _table(_FORMS)
_SPELLED = _table(_SPELLINGS)
_STEMMER = Stemmer.Stemmer("english", 0)
_ONE_AT_A_TIME = Lock()  # a Stemmer holds state of the word at hand

STEMMER_VERSION = Stemmer.version()


def stem(word: str) -> str:
    """The stem of a lower-case ASCII word; another word comes back as it is."""
    if not word.isascii():
        return word
    with _ONE_AT_A_TIME:
        stemmed = _STEMMER.stemWord(_IRREGULAR.get(word, word))
    return _SPELLED.get(stemmed, stemmed)


# A query looks for none of these unless it holds nothing else; documents count them all. A word is stopped whatever the
# language around it, so a word of one language that names something in another is not here (German "war", French
# "pour", Spanish "era"), nor is "may", which is a month. Spelled as `normalise` leaves them, apostrophes off.
#
# Question words, pronouns, auxiliaries, articles, and the few prepositions that say least. Other prepositions,
# quantities and most conjunctions stay in a query: the mean recall@10 of seven sets of questions on English
# conversations was .676 with them and .667 without.
_ENGLISH = """
who whom whose what whatever which when where while why how
i me my myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
it its itself they them their theirs themselves this that these those there
am are be been being can could did do does doing done had has have having is should shall was were will would
a an the of to and or in on at for
arent cannot cant couldnt didnt doesnt dont hadnt hasnt havent isnt shouldnt wasnt werent wont wouldnt
hes id ill im ive thats theres theyre theyve whats youd youll youre youve
"""
_GERMAN = """
aber auch auf aus bei bist dass dem der diese dieser dieses du ein eine einem einen einer ich ihr ist mit nach nicht
noch oder sich sie sind uber und uns von wer wie wir wird zu zum zur
"""
_FRENCH = "aux avec cette dans des elles et il ils je le les leur ne nous ou par pas que qui ses sont sur une vous"
_SPANISH = "cual cuando donde el ellos en esta este las muy para pero por porque quien y ya"
STOP_WORDS = frozenset(f"{_ENGLISH} {_GERMAN} {_FRENCH} {_SPANISH}".split())

_CHINESE = "的了是在和与吗呢吧啊呀么什谁哪怎这那就都也还很我你您他她它们有被把给"
_JAPANESE = "はがを"
STOP_CHARACTERS = frozenset(_CHINESE + _JAPANESE)
LIGHT_CHARACTERS = frozenset("用去来走做说到让对从向跟比会能想要好不没个一上下里")
"""Coverbs, light verbs, measures and the like: part of telling pairs (费用, 跳伞去), but telling nothing alone."""

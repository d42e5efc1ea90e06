"""Stems of English words: irregular forms by a table, everything else by Snowball.

Whether a word is English is not asked: sessions in several languages share statistics, so the term of a word may depend
on the word alone.
"""

from __future__ import annotations

from threading import Lock

import Stemmer

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
_ENGLISH = Stemmer.Stemmer("english", 0)
_ONE_AT_A_TIME = Lock()  # a Stemmer holds state of the word at hand

STEMMER_VERSION = Stemmer.version()


def stem(word: str) -> str:
    """The stem of a lower-case ASCII word; another word comes back as it is."""
    if not word.isascii():
        return word
    with _ONE_AT_A_TIME:
        stemmed = _ENGLISH.stemWord(_IRREGULAR.get(word, word))
    return _SPELLED.get(stemmed, stemmed)

"""Words and characters a query does not look for unless it holds nothing else. Documents count them all.

A word is stopped whatever the language around it, so a word of one language that names something in another is not
here (German "war", French "pour", Spanish "era"), nor is "may", which is a month. Spelled as `normalise` leaves them,
apostrophes off.
"""

from __future__ import annotations

_ENGLISH = """
a about after again all also am an and any are arent as at be because been before being between both but by can cant
cannot could couldnt did didnt do does doesnt doing done dont during each either ever every few for from had hadnt has
hasnt have havent having he her here hers herself hes him himself his how i id if ill im in into is isnt it its itself
ive just me more most much my myself neither no nor not now of off on once only or other our ours ourselves out over
own same shall she should shouldnt so some such than that thats the their theirs them themselves then there theres
these they theyre theyve this those through to too under until up upon us very was wasnt we were werent what whatever
whats when where which while who whom whose why will with wont would wouldnt yes you youd youll your youre yours
yourself yourselves youve
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

"""How sure a text is of itself: hedged wording makes it `inferred`, else the `story` vouches for it."""

from __future__ import annotations

import re

from talekeeper.api import Authority

_ENGLISH = (
    "apparently|appears? to|as if|as though|could (?:be|have)|allegedly|i think|i guess|it is said|"
    "guess(?:es|ed)?|likely|maybe|may (?:be|have)|might|perhaps|possibly|presumably|probably|reportedly|rumou?rs?|"
    "rumou?red|seem(?:s|ed|ing|ingly)?|supposedly|suspects?|suspected|uncertain|unclear|unsure|not sure"
)
# Chinese and Japanese have no spaces between words. Markers that stand inside ordinary words are left out, or say
# what may not stand beside them: 可能 but not 不可能, 也许, 大概 but not 大概念.
_CJK = (
    "(?<!不)可能(?!性为零)|也许|或许|大概(?!念|率)|似乎|好像|看来|看似|恐怕|说不定|未必|据说|听说|据传|传闻|"
    "疑似|怀疑|猜测|推测|估计|应该是|不确定|仿佛|也許|或許|看來|說不定|據說|聽說|據傳|傳聞|懷疑|猜測|推測|估計|應該是|不確定|彷彿|"
    "かもしれ|だろう|でしょう|(?<!すば)(?<!素晴)(?<!愛)(?<!あた)らしい|ようだ|ようです|みたいだ|おそらく|恐らく|たぶん|多分|"
    "아마|듯하|것 같|모양이"
)
_HEDGED = re.compile(rf"(?<![\w-])(?:{_ENGLISH})(?![\w-])|{_CJK}", re.IGNORECASE)


def authority_of(text: str) -> Authority:
    """`inferred` for hedged wording, on word boundaries ("unlikely" is not "likely"), else `story`."""
    return "inferred" if _HEDGED.search(text) else "story"

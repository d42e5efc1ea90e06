"""The day of a message, read from the `time` its file gives, and the words people ask for that day with.

Only what is certain is read: 03/02/2022 gives a year, because either of the others may be the month.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from talekeeper.text.normalisation import normalise

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_LONGEST = 80  # characters; no form met has half as many
_FEWEST_SECONDS, _MOST_SECONDS = 10**8, 10**11  # 1973 to 5138: smaller numbers count something else, larger ones are ms

# Compiled when first met: `re` keeps them.
_NUMBER = r"\d{4,17}(?:\.\d{0,9})?"
_NAME = "(?P<name>" + "|".join(f"{month}|{month[:3]}" for month in _MONTHS) + r"|sept)\b\.?"
_YEAR, _DAY = r"(?P<year>[12]\d{3})(?!\d)", r"(?<!\d)(?P<day>\d{1,2})(?:st|nd|rd|th)?(?![\d:])"
_FORMS = (
    r"(?<!\d)(?P<year>\d{4})\s?[-/.年년]\s?(?P<month>\d{1,2})\s?[-/.月월]\s?(?P<day>\d{1,2})(?!\d)",
    r"\A(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)(?=t|\Z)",
    r"\A(?P<year>\d{4})\s?[-/.年년]\s?(?P<month>\d{1,2})[月월]?\Z",
    rf"{_DAY}\.?\s(?:of\s)?{_NAME},?\s{_YEAR}",
    rf"\b{_NAME}\s{{1,2}}{_DAY},?\s(?:\S{{1,20}}\s){{0,2}}{_YEAR}",
    rf"\b{_NAME},?\s{_YEAR}",
    r"(?<!\d)(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4})(?!\d)",
    r"(?<!\d)(?P<one>\d{1,2})[/-](?P<two>\d{1,2})[/-](?P<year>\d{4})(?!\d)",
    r"\A(?P<year>[12]\d{3})[年년]?\Z",
)


class Day(NamedTuple):
    """A year, with month and day where they are known."""

    year: int
    month: int | None = None
    day: int | None = None


def date_words(raw: str | float) -> str:
    """What a message's `time` adds to its passage, or "" where no day can be read.

    8 May 2023 gives "8 may 2023-05-08 5月8号", whose terms hold 8, may, 2023 and the Chinese day; part of a date gives
    part of it. A time of day adds nothing. Numbers are unix seconds, milliseconds or microseconds, read as UTC.
    """
    return _words(str(raw))


# The messages of a session share few days, and every message added comes through here.
@lru_cache(1024)
def _words(raw: str) -> str:
    found = read_day(raw)
    if found is None:
        return ""
    year, month, day = found
    if month is None:
        return f"{year}"
    name = _MONTHS[month - 1]
    if day is None:
        return f"{name} {year}-{month:02} {month}月"
    return f"{day} {name} {year}-{month:02}-{day:02} {month}月{day}号"


def read_day(raw: str) -> Day | None:
    """The day a time names in one of the forms met: ISO, unix, long-hand English, Chinese, those of SillyTavern."""
    if len(raw) > _LONGEST:
        return None
    text = normalise(raw.strip())
    if re.fullmatch(_NUMBER, text) and (day := _unix_day(text)):
        return day
    match = next(filter(None, (re.search(form, text) for form in _FORMS)), None)
    return _valid(_day_of(match.groupdict())) if match else None


def _unix_day(number: str) -> Day | None:
    seconds = int(number.partition(".")[0])
    while seconds >= _MOST_SECONDS:
        seconds //= 1000
    if seconds < _FEWEST_SECONDS:
        return None
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    return Day(moment.year, moment.month, moment.day)


def _day_of(parts: dict[str, str | None]) -> Day:
    numbers = {name: int(part) for name, part in parts.items() if part and part.isdigit()}
    if name := parts.get("name"):
        numbers["month"] = 1 + next(place for place, month in enumerate(_MONTHS) if month.startswith(name[:3]))
    if "one" in numbers:
        numbers |= _told_apart(numbers["one"], numbers["two"])
    return Day(numbers["year"], numbers.get("month"), numbers.get("day"))


def _told_apart(one: int, two: int) -> dict[str, int]:
    """Which of two numbers is the month: the only one that can be, or none where both could."""
    if one == two:
        return {"month": one, "day": two}
    low, high = sorted((one, two))
    return {"month": low, "day": high} if high > len(_MONTHS) else {}


def _valid(found: Day) -> Day | None:
    try:
        date(found.year, found.month or 1, found.day or 1)
    except ValueError:
        return None
    return found

"""Days read from the times of files, and the words that find them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.text import SINGLE, date_words, document_terms, query_terms
from talekeeper.text.dates import Day, read_day


@pytest.mark.parametrize(
    "raw",
    [
        "2023-05-08",
        "2023-05-08T13:56:12.345Z",
        "2023-05-08T23:56:12+05:30",
        "2023-05-08 13:56",
        "20230508",
        "20230508T135612",
        "2023/05/08 (Mon) 04:59",
        "2023.5.8",
        "1:56 pm on 8 May, 2023",
        "8 May 2023",
        "8th of May, 2023",
        "May 8, 2023 1:56pm",
        "may 8th 2023",
        "MAY 8, 2023",
        "Mon May  8 13:56:12 2023",
        "Mon May  8 13:56:12 UTC 2023",
        "Mon, 08 May 2023 13:56:12 GMT",
        "2023-5-8 @13h 56m 12s 345ms",
        "2023-05-08@13h56m12s",
        "2023年5月8日 下午1:56",
        "2023년 5월 8일",
        "２０２３年５月８日",
        "08.05.2023 13:56",
        "8. 5. 2023",
        "5/25/2023",
        "25/5/2023",
        "1683554172",
        "1683554172.345",
        "1683554172345",
        "1683554172345678",
    ],
)
def test_a_day_is_read_from(raw: str) -> None:
    day = read_day(raw)

    assert day in {Day(2023, 5, 8), Day(2023, 5, 25)}
    assert (day == Day(2023, 5, 25)) == ("25" in raw)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        pytest.param("8 May 2023", "8 may 2023-05-08 5月8号", id="a-day"),
        pytest.param(1683554172, "8 may 2023-05-08 5月8号", id="seconds-as-a-number"),
        pytest.param(1683554172345.0, "8 may 2023-05-08 5月8号", id="milliseconds-as-a-number"),
        pytest.param("May 2023", "may 2023-05 5月", id="a-month"),
        pytest.param("2023-05", "may 2023-05 5月", id="a-month-in-numbers"),
        pytest.param("2023", "2023", id="a-year"),
        pytest.param("03/02/2022", "2022", id="day-and-month-cannot-be-told"),
        pytest.param("02/02/2022", "2 february 2022-02-02 2月2号", id="day-and-month-are-equal"),
        pytest.param("1912-04-14", "14 april 1912-04-14 4月14号", id="long-ago"),
    ],
)
def test_words_of(raw: str | float, words: str) -> None:
    found = date_words(raw)

    assert found == words


@pytest.mark.parametrize(
    "raw",
    [
        *("", " ", "12", "-1683554172", "12345", "the third day of frost", "dawn", "May", "13:56", "2023-02-30"),
        *("31 June 2023", "0000-01-01", "99999999999999999999", "9" * 10_000, "1." * 50, "nan", "inf", "\0", "\ud800"),
        *("20231399", "2023-13-01", "marching 8 2023", "mayor 2023", "1683554172 8 May 2023" * 9),
    ],
)
def test_no_day_is_guessed_from(raw: str) -> None:
    words = date_words(raw)

    assert words == ""


def test_a_passage_of_a_day_is_found_by_each_way_of_asking_for_it() -> None:
    counts = document_terms(date_words("2023-05-08T13:56:12Z")).counts

    assert {"8", "may", "2023", "2023-05-08", "5", f"{SINGLE}月", f"{SINGLE}号"} <= set(counts)
    for query in ("8 May 2023", "May 8th, 2023", "2023-05-08", "5月8号"):
        assert set(query_terms(query)) <= set(counts)


@given(st.dates())
def test_a_day_is_read_back_from_its_iso_form(day: object) -> None:
    found = read_day(str(day))

    assert found is not None
    assert f"{found.year:04}-{found.month:02}-{found.day:02}" == str(day)


@given(st.text() | st.from_regex(r"\A\d{1,4}[-/. ]\w{1,5}[-/. ]\d{1,6}\Z"))
def test_whatever_is_given_is_a_day_or_not_and_never_an_error(raw: str) -> None:
    found = read_day(raw)

    assert found is None or 0 < found.year < 10_000

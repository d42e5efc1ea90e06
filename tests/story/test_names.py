"""Names: which are refused, and that the reason is said."""

from __future__ import annotations

import pytest
from talekeeper.errors import ParameterError
from talekeeper.story.checks import check_name


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        pytest.param("", "session: it is empty; give it a name", id="empty"),
        pytest.param("  ", "session: it is empty; give it a name", id="blank"),
        pytest.param("x" * 201, "session: it has 201 characters, at most 200 are taken; shorten it", id="too long"),
        pytest.param(" x", "session: ' x' has blanks around it; leave them out", id="blanks around it"),
        pytest.param(
            "a\u200bb", "session: 'a\\u200bb' holds a character that cannot be seen; leave it out", id="unseen"
        ),
    ],
)
def test_a_refused_name_is_told_its_reason_and_limit(name: str, sentence: str) -> None:
    with pytest.raises(ParameterError) as refused:
        check_name(name, "session")

    assert str(refused.value) == sentence


def test_a_name_of_200_characters_is_taken() -> None:
    assert check_name("x" * 200, "session")

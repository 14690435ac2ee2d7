from collections import Counter

import pytest

from corpusmill.transforms.news.wmt_tokenizer import ALWAYS, BEFORE_NUMBER, prefixes_of


@pytest.mark.parametrize(
    ("language", "always", "before_number"), [("en", 90, 3), ("de", 298, 0), ("el", 1, 0)]
)
def test_as_many_prefixes_as_the_script_reads(
    language: str, always: int, before_number: int
) -> None:
    kinds = Counter(prefixes_of(language).values())
    assert (kinds[ALWAYS], kinds[BEFORE_NUMBER]) == (always, before_number)


def test_some_prefixes() -> None:
    assert prefixes_of("en")["Messrs"] == ALWAYS
    assert prefixes_of("en")["pp"] == BEFORE_NUMBER
    assert prefixes_of("de")["c.-à-d"] == ALWAYS
    assert prefixes_of("el") == {"κ": ALWAYS}


def test_a_language_without_a_list_has_the_english_one() -> None:
    assert prefixes_of("fr") == prefixes_of("en")

import re

import pytest

from corpusmill.transforms.books import catalog
from corpusmill.transforms.books.catalog import parse_languages
from corpusmill.transforms.files.markup import read_toml


@pytest.mark.parametrize(
    ("names", "codes"),
    [
        ("English", ("en",)),
        ("ENGLISH.", ("en",)),
        ("en", ("en",)),
        ("English, Spanish, Tagalog", ("en", "es", "tl")),
        ("English and Latin", ("en", "la")),
        ("French / German; French", ("fr", "de")),
        ("Greek, Ancient", ("grc",)),
        ("Middle  English", ("enm",)),
        ("Klingon & Dutch", ("Klingon", "nl")),
        ("", ()),
    ],
)
def test_names(names: str, codes: tuple[str, ...]) -> None:
    assert parse_languages(names) == codes


def test_the_table_has_names_in_lower_case_and_codes() -> None:
    for name, code in read_toml(catalog.__package__, "language_names.toml").items():
        assert name == name.lower()
        assert re.fullmatch("[a-z]{2,3}", code)

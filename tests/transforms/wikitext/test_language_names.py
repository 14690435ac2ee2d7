"""Names of languages beside codes of Wikipedias."""

import pytest

from corpusmill.transforms.wikitext.wikis import code_of_language
from tests.tools.case_tables import read_cases


@pytest.mark.parametrize(("text", "code"), read_cases("wikitext/language_names", "names_and_codes"))
def test_names_and_codes(text: str, code: str) -> None:
    assert code_of_language(text) == code


@pytest.mark.parametrize(("text", "name"), [("Germann", "German"), ("ukranian", "Ukrainian")])
def test_a_misspelled_name_is_refused(text: str, name: str) -> None:
    with pytest.raises(ValueError, match=f"no such language: '{text}'; did you mean {name}\\?"):
        code_of_language(text)

import pytest

from corpusmill.pipelines.translation.target_languages import FLORES101_CODES, language_key
from corpusmill.transforms.wikitext.wikis import LANGUAGE_CODES
from tests.tools.case_tables import read_cases


@pytest.mark.parametrize(("key", "codes"), read_cases("translation/languages", "keys"))
def test_codes_of_one_language(key: str, codes: list[str]) -> None:
    assert [language_key(code) for code in codes] == [key] * len(codes)


def test_no_two_languages_of_a_data_set_are_one() -> None:
    for codes in (FLORES101_CODES, LANGUAGE_CODES):
        assert len({language_key(code) for code in codes}) == len(codes)


def test_no_language() -> None:
    with pytest.raises(ValueError, match='no language "xx"'):
        language_key("xx")

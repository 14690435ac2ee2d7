import pytest

from corpusmill.pipelines.translation.target_languages import FLORES101_CODES, language_key
from corpusmill.transforms.wikitext.wikis import LANGUAGE_CODES

CASES = {
    "uk": ("uk", "ukr", "ukr_Cyrl"),
    "en": ("en", "eng", "en-GB"),
    "zh": ("zho_simpl", "zh-cn", "zho_Hans"),
    "zh-Hant": ("zho_trad", "zh-tw", "zho_Hant"),
    "nb": ("no", "nob", "nb"),
    "ar": ("ara", "arb_Arab", "ar"),
    "fil": ("tgl", "tl", "fil"),
    "sw": ("swh", "sw"),
    "pt": ("por", "pt-BR"),
    "sr": ("srp", "sr-Cyrl"),
    "sr-Latn": ("sr-Latn",),
    "ne": ("npi", "npi_Deva"),
}


@pytest.mark.parametrize(("key", "codes"), CASES.items())
def test_codes_of_one_language(key: str, codes: tuple[str, ...]) -> None:
    assert [language_key(code) for code in codes] == [key] * len(codes)


def test_no_two_languages_of_a_data_set_are_one() -> None:
    for codes in (FLORES101_CODES, LANGUAGE_CODES):
        assert len({language_key(code) for code in codes}) == len(codes)


def test_no_language() -> None:
    with pytest.raises(ValueError, match='no language "xx"'):
        language_key("xx")

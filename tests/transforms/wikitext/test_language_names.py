"""Names of languages beside codes of Wikipedias."""

import pytest

from corpusmill.transforms.wikitext.wikis import code_of_language


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("uk", "uk"),
        ("Ukrainian", "uk"),
        ("ukrainian", "uk"),
        (" українська ", "uk"),
        ("Ελληνικά", "el"),
        ("Norwegian", "no"),
        ("Norwegian Bokmål", "no"),
        ("nb", "no"),
        ("Tagalog", "tl"),
        ("Cantonese", "zh-yue"),
        ("English", "en"),
        ("Simple English", "simple"),
        ("Simplified Chinese", "zh-cn"),
        ("繁體中文", "zh-tw"),
        ("Chinese", "zh"),  # which gives two corpora, and is refused as zh is
        ("all", "all"),
        ("Klingon", "klingon"),
        ("xx", "xx"),
    ],
)
def test_names_and_codes(text: str, code: str) -> None:
    assert code_of_language(text) == code


@pytest.mark.parametrize(("text", "name"), [("Germann", "German"), ("ukranian", "Ukrainian")])
def test_a_misspelled_name_is_refused(text: str, name: str) -> None:
    with pytest.raises(ValueError, match=f"no such language: '{text}'; did you mean {name}\\?"):
        code_of_language(text)

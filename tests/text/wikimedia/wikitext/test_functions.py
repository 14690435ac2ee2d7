"""Templates whose text has to be worked out."""

import pytest

from transforms.text.wikimedia.language import load_language
from transforms.text.wikimedia.wikitext.functions import FUNCTIONS
from transforms.text.wikimedia.wikitext.rendering import Page
from transforms.text.wikimedia.wikitext.templates import parse_arguments


@pytest.mark.parametrize(
    ("function", "code", "source", "expected"),
    [
        ("as_of", "en", "2015", "As of 2015"),
        ("as_of", "en", "2015|6|30|lc=y", "as of 30 June 2015"),
        ("as_of", "vi", "2019|lc=y", "tính đến 2019"),
        ("date", "en", "1885|4|3", "April 3, 1885"),
        ("date", "uk", "1989|4|24", "24 квітня 1989"),
        ("date", "de", "1989|4|24", "24. April 1989"),
        ("date", "ja", "1989|4|24", "1989年4月24日"),
        ("date", "en", "1989", "1989"),
        ("date", "en", "", ""),
        ("date_day_first", "ru", "24|4|1989", "24 апреля 1989"),
        ("date_old_style", "uk", "26|5|1912|13", "13 (26) травня 1912"),
        ("date_old_style", "uk", "12|1|1839|31", "31 грудня (12 січня 1839)"),
        ("fraction", "en", "2", "1⁄2"),
        ("fraction", "en", "1|2|3", "1 2⁄3"),
        ("val", "en", "6.241|e=18", "6.241×10¹⁸"),
        ("val", "en", "1.2|(3)|u=kg", "1.2(3) kg"),
        ("val", "en", "-5|0.1|e=3|ul=m|up=s", "(−5±0.1)×10³ m/s"),
        ("val", "vi", "1.5", "1,5"),
        ("ship", "en", "HMS|Victory|1765", "HMS Victory (1765)"),
        ("ship", "en", "|Titanic", "Titanic"),
        ("uss", "en", "Arizona|BB-39|6", "Arizona"),
        ("uss", "vi", "Arizona|BB-39|2", "USS Arizona"),
        ("ipa_english", "en", "æ|l|ˈ|b|iː|d|oʊ", "/ælˈbiːdoʊ/"),
        ("ipa_english", "en", "pron|ˈ|k|iː|En-us-key.ogg", "pronounced /ˈkiː/"),
        ("ipa_of_language", "en", "tʃ|", "[tʃ]"),
        ("ipa_of_language", "en", "tʃ|lang|label=German", "German: [tʃ]"),
        ("japanese", "en", "Aitō|愛東町|Aitō-chō", "Aitō (愛東町, Aitō-chō)"),
        ("japanese_romaji_first", "en", "sword|刀|katana", "katana (刀, sword)"),
        ("language_of_code", "en", "de|Haus", "German: Haus"),
        ("labelled", "uk", "yard|label=англ.", "англ. yard"),
        ("labelled", "uk", "label=англ.", ""),
        ("chinese", "en", "t=臺灣|s=台湾|p=Táiwān", "臺灣; 台湾; Táiwān"),
        ("chinese", "zh-cn", "t=臺灣|s=台湾", "繁体: 臺灣; 简体: 台湾"),
        ("country", "vi", "FRA", "Pháp"),
        ("country", "en", "Narnia", "Narnia"),
        ("sic", "en", "wrogn", "wrogn [sic]"),
        ("sic", "en", "wrogn|hide=y", "wrogn"),
        ("music", "en", "flat", "♭"),
    ],
)
def test_functions(function: str, code: str, source: str, expected: str) -> None:
    page = Page("", load_language(code))
    assert FUNCTIONS[function](parse_arguments(source), page) == expected

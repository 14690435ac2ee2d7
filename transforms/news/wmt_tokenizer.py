"""Splits lines into words as tokenizer.perl of the One Billion Word benchmark (WMT 2011, "v3") does.

The module applies the exact rules to one line at a time, in the order of the script. `line_tokenizer` gives
the same result for most lines and is faster.

In the script, the match of a comma or an apostrophe includes the characters beside it, which cannot be
matched again: in "a,b,c" only the first comma is separated, because its match includes the "b". For the same
result, the patterns in this module match these characters as well, and do not use lookarounds.

The version of Perl affects the character classes. Letters and digits that a version does not know are special
characters, and in Perl 5.14 `\\s` matches U+180E but not U+000B.

Reads lists of words after which a period does not end a sentence, such as "Mr" and "Gen".
"""

import functools
import re
from collections.abc import Mapping
from typing import NamedTuple

from ..files.markup import read_toml
from .punctuation import CODE_POINTS, CURRENT_PERL, class_body

ALWAYS = "always"
BEFORE_NUMBER = "before_number"

_FALLBACK = "en"


@functools.cache
def prefixes_of(language: str) -> Mapping[str, str]:
    """Returns word → ALWAYS or BEFORE_NUMBER, for words after which a period does not end a sentence.

    BEFORE_NUMBER means that this is so only if a digit 0-9 follows. A language without its own list gets the
    English list, as in tokenizer.perl.
    """
    tables = read_toml(__package__, "nonbreaking_prefixes.toml")
    lists = tables.get(language, tables[_FALLBACK])
    return {word: kind for kind, words in lists.items() for word in words.split()}


APOSTROPHES_RIGHT = "right"
"""The rule for English: "it's" becomes "it 's"."""
APOSTROPHES_LEFT = "left"
"""The rule for French and Italian: "l'eau" becomes "l' eau"."""
APOSTROPHES_APART = "apart"
"""The rule for all other languages: "it's" becomes "it ' s"."""

# The script's own stand-in for a run of periods, DOT(DOT…)MULTI. Every occurrence is replaced back, so the
# word DOTMULTI in a line becomes a period.
STAND_IN = "DOTMULTI"

_POINTS = re.compile(r"\.\.+")
_STAND_IN_BEFORE_POINT = re.compile(rf"{STAND_IN}\.([^.])")
_STAND_INS = re.compile(r"(?:DOT)++(?:MULTI)?")


class _Rules(NamedTuple):
    special: re.Pattern[str]
    commas: tuple[re.Pattern[str], ...]
    apostrophes: tuple[tuple[re.Pattern[str], str], ...]  # (pattern, replacement)
    letter: re.Pattern[str]
    lower_case: re.Pattern[str]
    space: re.Pattern[str]
    blank: re.Pattern[str]  # matches a whole line that is returned unchanged
    prefixes: Mapping[str, str]


def apostrophes_of(language: str) -> str:
    """Returns the rule for apostrophes of a language.

    The rule is APOSTROPHES_RIGHT, APOSTROPHES_LEFT or APOSTROPHES_APART: an apostrophe is joined to the word
    on its right, to the word on its left, or to none.
    """
    rules = {"en": APOSTROPHES_RIGHT, "fr": APOSTROPHES_LEFT, "it": APOSTROPHES_LEFT}
    return rules.get(language, APOSTROPHES_APART)


def tokenize_line(line: str, language: str = "en", perl: str = CURRENT_PERL) -> str:
    """Tokenises a line as tokenizer.perl does. Returns the words, separated by single spaces.

    Empty lines, lines of white space, and lines of the form <…> are returned unchanged.

    Args:
      line: a line without a line feed.
      language: language code.
      perl: the version of Perl to imitate, such as "5.36".
    """
    rules = _rules_for(line, language, perl)
    is_tag = line[:1] == "<" and line[-1:] == ">" and len(line) > 2
    if is_tag or rules.blank.fullmatch(line):
        return line
    text = rules.special.sub(r" \1 ", f" {line} ")
    text = _hide_points(text)
    for comma in rules.commas:
        text = comma.sub(r"\1 , \2", text)
    text = text.replace("`", "'").replace("''", ' " ')
    for apostrophe, replacement in rules.apostrophes:
        text = apostrophe.sub(replacement, text)
    words = rules.space.split(text)
    # Before two spaces, the following word is empty and does not begin with a letter.
    text = " ".join(
        _split_final_period(word, after, rules)
        for word, after in zip(words, [*words[1:], ""], strict=True)
        if word
    )
    return _STAND_INS.sub(_show_points, text)


def keeps_period(prefix: str, language: str, perl: str) -> str:
    """Returns whether a period at the end of a word stays part of it: ALWAYS, BEFORE_NUMBER or "".

    ALWAYS means that the period is never separated from the word. BEFORE_NUMBER means that it is separated
    unless a number follows. "" means that it is separated. The function does not see the next word: if this
    word begins with a lower-case letter, the caller must not separate the period.

    Args:
      prefix: the word without the period.
      language: language code.
      perl: the version of Perl to imitate, such as "5.36".
    """
    return _keeps_period(prefix, _rules_for(prefix, language, perl))


def _hide_points(text: str) -> str:
    text = _POINTS.sub(_hide_run, text)
    # The script's loop hides one period of each run per round. After the first round only runs of three and
    # more are left. They touch no other text, so they are hidden at once above: a run of 100,000 would
    # take as many rounds. The first round is needed if a line has the word DOTMULTI, whose period it hides.
    while f"{STAND_IN}." in text:
        text = _STAND_IN_BEFORE_POINT.sub(rf"DOT{STAND_IN} \1", text)
        text = text.replace(f"{STAND_IN}.", f"DOT{STAND_IN}")
    return text


def _hide_run(match: re.Match[str]) -> str:
    periods = len(match[0])
    return f" {STAND_IN}." if periods == 2 else f" {'DOT' * (periods - 1)}{STAND_IN} "


def _show_points(match: re.Match[str]) -> str:
    found = match[0]
    return "." * ((len(found) - len("MULTI")) // len("DOT")) if found.endswith("I") else found


def _split_final_period(word: str, after: str, rules: _Rules) -> str:
    prefix = word[:-1]
    if not prefix or word[-1] != "." or rules.lower_case.match(after):
        return word
    keeps = _keeps_period(prefix, rules)
    if keeps == ALWAYS or (keeps == BEFORE_NUMBER and "0" <= after[:1] <= "9"):
        return word
    return f"{prefix} ."


def _keeps_period(prefix: str, rules: _Rules) -> str:
    if "." in prefix and rules.letter.search(prefix):
        return ALWAYS
    return rules.prefixes.get(prefix, "")


def _rules_for(line: str, language: str, perl: str) -> _Rules:
    if line.isascii():
        return _rules(language, perl, 0x80)
    return _rules(language, perl, 0x10000 if max(line) < "\U00010000" else CODE_POINTS)


@functools.cache
def _rules(language: str, perl: str, below: int) -> _Rules:
    letter = class_body("alphabetic", perl=perl, below=below)
    number = class_body("number", perl=perl, below=below)
    space = class_body("white_space", perl=perl, below=below)
    known = class_body("alphabetic", "decimal_digit", "white_space", perl=perl, below=below)
    return _Rules(
        special=re.compile(rf"([^{known}.'`,\-])"),
        commas=(
            re.compile(f"([^{number}]),([^{number}])"),
            re.compile(f"([{number}]),([^{number}])"),
            re.compile(f"([^{number}]),([{number}])"),
        ),
        apostrophes=_apostrophes(apostrophes_of(language), letter, number),
        letter=re.compile(f"[{letter}]"),
        lower_case=re.compile(f"[{class_body('lowercase', perl=perl, below=below)}]"),
        space=re.compile(f"[{space}]"),
        blank=re.compile(f"[{space}]*+"),
        prefixes=prefixes_of(language),
    )


def _apostrophes(split: str, letter: str, number: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    if split == APOSTROPHES_APART:
        return ((re.compile("'"), " ' "),)
    is_right = split == APOSTROPHES_RIGHT
    apart, right, left = r"\1 ' \2", r"\1 '\2", r"\1' \2"
    rules = [
        (f"([^{letter}])'([^{letter}])", apart),
        (f"([^{letter}{number if is_right else ''}])'([{letter}])", apart),
        (f"([{letter}])'([^{letter}])", apart),
        (f"([{letter}])'([{letter}])", right if is_right else left),
    ]
    if is_right:
        rules.append((f"([{number}])'(s)", right))  # "1990's"
    return tuple((re.compile(pattern), instead) for pattern, instead in rules)

"""Checks the characters of translations: odd characters, Unicode form, spaces, traces of programs, notes,
endings, quotation marks and addresses.

Broken, invisible and look-alike characters cause problems in display, search and comparison. NFC, the
composed form of Unicode, is what keyboards usually produce. Traces of programs are HTML entities, tags,
wikitext, Markdown, and text that was decoded with a wrong encoding. They and notes of translators are found
by the patterns in fault_patterns.toml. Quotation marks are faulty if they are unbalanced,
or if a spreadsheet program has doubled them or added them around a line.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

import regex  # type: ignore[import-untyped]

from corpusmill.transforms.files.markup import read_toml
from corpusmill.transforms.files.records import Finding

from .check_numbers import plain, read_numbers, with_ascii_digits
from .sentence_pairs import ERROR, WARNING, Pair, excerpt, first_difference, name_characters
from .target_languages import TargetLanguage

_RULE = "unicode-variants"

# Never part of a line: control characters, line and paragraph separators, private use, surrogates,
# noncharacters, the replacement character, a byte order mark.
_BROKEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ue000-\uf8ff\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\ufffd\ufffc\ufeff"
    r"\U000f0000-\U0010ffff]"
)
# Presentation forms of letters, which fonts choose by themselves. The signs ﷲ … ﷼ and the ornate
# parentheses ﴾ ﴿ are not presentation forms.
_PRESENTATION = re.compile(r"[\ufb50-\ufd3d\ufd50-\ufdef\ufe70-\ufefe\ufb00-\ufb06]")
_FULL_WIDTH = re.compile(r"[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]")  # digits and Latin letters
_HALF_WIDTH = re.compile(r"[\uff61-\uff9f\uffa0-\uffdc]")  # Katakana and Hangul
_INVISIBLE = re.compile(r"[\u00ad\u200c\u200d\u200b\u2060-\u2064\u180e\u202a-\u202e\u2066-\u2069]")
_MARKS_OF_DIRECTION = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_BETWEEN_WORDS = "\u200b"
_JOINERS = "\u200c\u200d"
# Scripts written with joiners, which shape letters, and scripts written with zero-width spaces between words.
_JOINED = frozenset(
    "Arab Beng Deva Gujr Guru Knda Mlym Mong Mymr Nkoo Orya Sinh Syrc Taml Telu Tibt".split()
)
_UNSPACED = frozenset("Khmr Laoo Mymr Thai Tibt".split())

# Similar letters of a related alphabet: language → wrong letter → right letter.
_YEH_AND_KAF = {"ي": "ی", "ى": "ی", "ك": "ک"}
_LOOKALIKES = {
    "fa": _YEH_AND_KAF,
    "ur": _YEH_AND_KAF,
    "ckb": _YEH_AND_KAF,
    "ps": {"ك": "ک"},
    "ar": {"ی": "ي", "ک": "ك"},
}
_EUROPEAN = r"A-Za-z\u00c0-\u024f\u1e00-\u1eff"
_GREEK_AND_CYRILLIC = r"\u0370-\u052f\u1f00-\u1fff"
_LATIN = re.compile(f"[{_EUROPEAN}]")
# "Vітамін" with a Latin V. In correct text there is usually a hyphen between Latin and other letters.
_MIXED_WORD = re.compile(
    rf"\b(?:[{_EUROPEAN}]+[{_GREEK_AND_CYRILLIC}]|[{_GREEK_AND_CYRILLIC}]+[{_EUROPEAN}])\w*"
)


def find_odd_characters(pairs: Sequence[Pair], language: TargetLanguage) -> Iterator[Finding]:
    """Yields `unicode-variants` findings for broken, invisible and look-alike characters.

    A finding about broken characters is an error; all others are warnings.
    """
    for pair in pairs:
        text = pair.translation.text
        if broken := _BROKEN.findall(text):
            message = f"characters that are not text: {name_characters(broken)}"
            yield pair.finding(_RULE, ERROR, message)
        for message in _variants(text, language):
            yield pair.finding(_RULE, WARNING, message)


def _variants(text: str, language: TargetLanguage) -> Iterator[str]:
    forms = _PRESENTATION.findall(text) + _HALF_WIDTH.findall(text)
    # not for languages with Chinese characters, which use both widths
    if "Hani" not in language.scripts:
        forms = forms + _FULL_WIDTH.findall(text)
    if forms:
        plain = unicodedata.normalize("NFKC", "".join(sorted(set(forms))))
        yield f"special forms of characters instead of the usual ones ({plain}): {name_characters(forms)}"
    unseen = set(_INVISIBLE.findall(text)) - set(_usual_invisible(language))
    if unseen:
        yield f"invisible characters: {name_characters(unseen)}"
    lookalikes = _LOOKALIKES.get(language.tag.split("-")[0], {})
    if foreign := sorted(set(text) & lookalikes.keys()):
        named = (f"{name_characters(char)} instead of {lookalikes[char]}" for char in foreign)
        yield f"look-alike letters of another language: {', '.join(named)}"
    if mixed := _MIXED_WORD.search(text):
        latin = _LATIN.findall(mixed[0])
        other = [char for char in mixed[0] if char.isalpha() and char not in latin]
        fewer = name_characters(latin if len(latin) <= len(other) else other)
        yield f"letters of two scripts in one word, {excerpt(mixed[0])}: {fewer}"


def _usual_invisible(language: TargetLanguage) -> str:
    usual = ""
    if language.is_right_to_left:
        usual += _MARKS_OF_DIRECTION
    if _JOINED.intersection(language.scripts):
        usual += _JOINERS
    if _UNSPACED.intersection(language.scripts):
        usual += _BETWEEN_WORDS
    return usual


def find_decomposed(pairs: Sequence[Pair]) -> Iterator[Finding]:
    """Yields `not-nfc` findings for translations that are not in NFC.

    A finding is an error if letters are decomposed, and a warning if only the order of combining marks
    differs from NFC. Unicode's composition exclusions, such as क़, are not reported: NFC decomposes them, but
    keyboards produce the composed form.
    """
    for pair in pairs:
        text = pair.translation.text
        if unicodedata.is_normalized("NFC", text):
            continue
        # Characters that NFC decomposes one by one are Unicode's composition exclusions.
        tolerated = "".join(unicodedata.normalize("NFC", char) for char in text)
        composed = unicodedata.normalize("NFC", tolerated)
        if composed == tolerated:
            continue
        was, should = first_difference(tolerated, composed)
        if sorted(composed) == sorted(tolerated):
            message = f"combining marks are not in the order of Unicode (NFC) in {excerpt(should)}"
            yield pair.finding("not-nfc", WARNING, message)
        else:
            message = (
                f"decomposed Unicode in {excerpt(should)}:"
                f" {len(was)} characters that should be {len(should)} (NFC)"
            )
            yield pair.finding("not-nfc", ERROR, message)


# Python does not count these as white space; they occur at the ends of real lines.
_ZERO_WIDTH = "\u200b\ufeff"


def find_outer_blanks(pairs: Sequence[Pair]) -> Iterator[Finding]:
    """Yields a warning `outer-blanks` for each translation with spaces at its beginning or end.

    Readers do not see such spaces, but they affect comparisons of texts.
    """
    for pair in pairs:
        text = pair.translation.text
        if (inner := text.strip().strip(_ZERO_WIDTH).strip()) and inner != text:
            sides = (("before", text.startswith), ("behind", text.endswith))
            ends = [side for side, has_at in sides if not has_at(inner)]
            yield pair.finding("outer-blanks", WARNING, f"spaces {' and '.join(ends)} the line")


def find_patterns(pairs: Sequence[Pair]) -> Iterator[Finding]:
    """Yields findings for translations that match a pattern of fault_patterns.toml.

    The findings are errors, but `alternatives` and `inner-blanks` and some findings of `notes` are only
    warnings. The other rules are `list-numbers`, `html-entities`, `markup` and `mojibake`. A line has at most
    one finding of each rule.
    """
    faults = read_toml(__package__, "fault_patterns.toml")["pattern"]
    for pair in pairs:
        source, target = pair.source.text, pair.translation.text
        rules: set[str] = set()
        for fault in faults:
            match = None if fault["rule"] in rules else regex.search(fault["pattern"], target)
            if not match or ("unless" in fault and regex.search(fault["unless"], source)):
                continue
            number = with_ascii_digits(match[1]) if match.re.groups else ""
            if (
                plain(number) not in read_numbers(source).whole
                if number
                else match[0] not in source
            ):
                rules.add(fault["rule"])
                message = f"{excerpt(match[0])} {fault['message']}"
                yield pair.finding(fault["rule"], fault["severity"], message)


def find_wrong_encodings(pairs: Sequence[Pair]) -> Iterator[Finding]:
    """Yields an error `mojibake` for each translation that was decoded with a wrong encoding."""
    import ftfy  # imported here, because it loads large tables

    config = ftfy.TextFixerConfig(unescape_html=False)
    for pair in pairs:
        target = pair.translation.text
        # A line of ASCII characters cannot have been read in a wrong encoding.
        if not target.isascii() and ftfy.fix_encoding(target, config) != target:
            was, should = first_difference(target, ftfy.fix_encoding(target, config), " ")
            message = f"read in a wrong encoding: {excerpt(was)} should be {excerpt(should)}"
            yield pair.finding("mojibake", ERROR, message)


_QUESTION_MARKS = "?？؟՞፧⁇⁈⁉︖﹖" + "\u037e"
_EXCLAMATION_MARKS = "!！՜߹᥄︕﹗⁈⁉"
# Greek, whose question mark is a semicolon; Armenian, whose marks are inside the word; and the languages
# without such marks.
_SEMICOLON = "el"
_INSIDE_THE_WORD = "hy"
_UNMARKED = frozenset("lo my th km".split())
_CLOSING_MARKS = "\"'“”‘’„»«›‹」』）)]】*।. \t\u00a0\u202f\u200b\u200e\u200f"
_FULL_STOP = regex.compile(r"[\p{Sentence_Terminal}…][\p{P}\p{Z}\p{Cf}]*$")
_STOPS = regex.compile(r"\.[\p{P}\p{Z}]*$")
# Share of the lines of a file with a full stop, from which a line without one is reported. In 16 released
# files the share is 0.93 to 1.
_MIN_STOPPED = 0.8
_MIN_LINES = 20


def find_other_endings(pairs: Sequence[Pair], language: TargetLanguage) -> Iterator[Finding]:
    """Yields a warning `ending-differs` for each translation that lacks the final mark of its source.

    For "?" and "!", equivalent marks of other scripts are accepted. For a full stop, any mark that ends a
    sentence is accepted, and the other lines of the file decide whether the language has such marks.
    """
    stopped = [pair for pair in pairs if _STOPS.search(pair.source.text)]
    open_ended = [pair for pair in stopped if not _FULL_STOP.search(pair.translation.text)]
    if len(stopped) >= _MIN_LINES and len(open_ended) <= (1 - _MIN_STOPPED) * len(stopped):
        for pair in open_ended:
            message = (
                f"{excerpt(pair.translation.text[-20:])} has no full stop: is the end missing?"
            )
            yield pair.finding("ending-differs", WARNING, message)
    tag = language.tag.split("-")[0]
    if tag in _UNMARKED:
        return
    question_marks = _QUESTION_MARKS + (";" if tag == _SEMICOLON else "")
    kinds = (
        ("?", question_marks, "is a question", "a question mark"),
        ("!", _EXCLAMATION_MARKS, "ends with an exclamation mark", "one"),
    )
    for pair in pairs:
        source = pair.source.text.rstrip(_CLOSING_MARKS)
        target = pair.translation.text.rstrip(_CLOSING_MARKS)
        end = target if tag == _INSIDE_THE_WORD else target[-1:]
        for sign, marks, what, lacking in kinds:
            if source.endswith(sign) and not set(end) & set(marks):
                message = f"the source {what}, but the translation ends without {lacking}"
                yield pair.finding("ending-differs", WARNING, message)


_QUOTE = '"'
_DOUBLED = re.compile(r'""|““|””|„„|««|»»|「「|」」')
_ANY = re.compile(r'["“”„‟«»「」『』〝〞〟＂]')


def find_doubled_quotes(pairs: Sequence[Pair]) -> Iterator[Finding]:
    """Yields findings for translations with doubled or unbalanced quotation marks.

    A `doubled-quotes` finding is an error. It is only a warning if the doubled marks may close a quotation
    within another quotation. An `unbalanced-quotes` finding is always a warning.
    """
    for pair in pairs:
        source, target = pair.source.text.strip(), pair.translation.text.strip()
        if (doubled := _DOUBLED.search(target)) and not _DOUBLED.search(source):
            message = f"doubled quotation marks {doubled[0]}: one is enough"
            # The marks may close a quotation within another: "Operation "Dragoon"".
            is_nested = target.count(_QUOTE * 2) == 1 and target.count(_QUOTE) == 4
            severity = WARNING if is_nested and not _is_cell(target) else ERROR
            yield pair.finding("doubled-quotes", severity, message)
        elif (is_wrapped(target) and source[:1] not in _WRAPPERS) or (
            _is_cell(target) and len(_ANY.findall(target)) > len(_ANY.findall(source)) + 1
        ):
            message = "quotation marks around the whole line, but not around the source"
            yield pair.finding("doubled-quotes", ERROR, message)
        elif len(_ANY.findall(target)) % 2 and not len(_ANY.findall(source)) % 2:
            message = "quotation marks that are opened and not closed, or closed and not opened"
            yield pair.finding("unbalanced-quotes", WARNING, message)


# first mark of a line → last marks that belong to it
_WRAPPERS = {'"': '"', "“": "”", "„": "“”", "”": "”", "«": "»", "»": "«", "「": "」", "『": "』"}
_WRAPPERS |= {"'": "'", "‘": "’", "’": "’"}


def _is_cell(text: str) -> bool:
    """Returns True if the text begins and ends like a quoted field of a CSV file."""
    return len(text) > 1 and text[0] == text[-1] == _QUOTE


def is_wrapped(text: str) -> bool:
    """Returns True if one pair of quotation marks encloses the whole text: “No.”, but not “A” or “B”."""
    ends = _WRAPPERS.get(text[:1], "")
    inner = text[1:-1]
    if len(text) < 2 or text[-1] not in ends:
        return False
    # Apostrophes inside words are no quotation marks.
    mark = re.search(rf"(?<!\w)[{text[0]}{ends}]|[{text[0]}{ends}](?!\w)", inner)
    if not mark:
        return True
    is_directed = text[0] not in ends
    return mark[0] == text[0] if is_directed else inner[: mark.start()].endswith((" ", "("))


# ASCII only: a letter or sign of the language that follows without a space is not part of the address.
_ADDRESS = re.compile(
    r"https?://[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+"
    r"|www\.[A-Za-z0-9\-]+\.[A-Za-z0-9\-._~:/?#@!$&()*+,;=%]+"
    r"|[A-Za-z0-9._%+\-]+@[A-Za-z0-9\-]+\.[A-Za-z0-9.\-]+",
    re.ASCII,
)
_CLOSING = ".,;:!?)]'"  # punctuation of the sentence, not of the address


def find_changed_addresses(pairs: Sequence[Pair]) -> Iterator[Finding]:
    """Yields an error `urls-differ` for each translation in which an address was lost, changed or added."""
    for pair in pairs:
        source, target = (
            Counter(addresses(text)) for text in (pair.source.text, pair.translation.text)
        )
        lost = " ".join(map(excerpt, source - target))
        new = " ".join(map(excerpt, target - source))
        if lost and new:
            message = f"the address must stay {lost}, but is {new}"
        elif lost:
            message = f"the address {lost} of the source is missing"
        elif new:
            message = f"the address {new} is not in the source"
        else:
            continue
        yield pair.finding("urls-differ", ERROR, message)


def addresses(text: str) -> list[str]:
    """Returns the web and e-mail addresses in a text, in order.

    Punctuation after an address belongs to the sentence and is not included.
    """
    return [match[0].rstrip(_CLOSING) for match in _ADDRESS.finditer(text)]

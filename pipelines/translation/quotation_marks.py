"""Finds faulty quotation marks in translations.

They are unbalanced, or a spreadsheet program has doubled them or added them around a line.
"""

import re
from collections.abc import Iterator, Sequence

from corpusmill.pipelines.translation.pairs import ERROR, WARNING, Pair
from corpusmill.transforms.files.translation_records import Finding

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
        doubled = _DOUBLED.search(target)
        if doubled and not _DOUBLED.search(source):
            message = f"doubled quotation marks {doubled[0]}: one is enough"
            severity = WARNING if _is_nested(target) else ERROR
            yield pair.finding("doubled-quotes", severity, message)
        elif is_wrapped(target) and len(_ANY.findall(target)) > len(_ANY.findall(source)) + 1:
            message = "quotation marks around the whole line, but not around the source"
            yield pair.finding("doubled-quotes", ERROR, message)
        elif len(_ANY.findall(target)) % 2 and not len(_ANY.findall(source)) % 2:
            message = "quotation marks that are opened and not closed, or closed and not opened"
            yield pair.finding("unbalanced-quotes", WARNING, message)


def _is_nested(text: str) -> bool:
    """Returns True if doubled marks may close a quotation within another quotation.

    An example is `"Operation "Dragoon""`.
    """
    return text.count(_QUOTE * 2) == 1 and text.count(_QUOTE) == 4 and not is_wrapped(text)


def is_wrapped(text: str) -> bool:
    """Returns True if the text is enclosed in straight quotation marks, like a quoted field of a CSV file."""
    return len(text) > 1 and text[0] == text[-1] == _QUOTE

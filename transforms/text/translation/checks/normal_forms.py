"""Unicode in the composed form, NFC, which nearly all text on the web has and which keyboards type."""

import functools
import unicodedata
from collections.abc import Iterator, Sequence

from transforms.text.translation.checks.pairs import ERROR, WARNING, Pair, excerpt, first_difference
from transforms.text.translation.records import Finding


def find_decomposed(pairs: Sequence[Pair]) -> Iterator[Finding]:
    """`not-nfc`: an error where letters are written in parts that have a sign of their own.

    A warning where only the order of the marks of a letter is another one. Nothing where only the composition
    exclusions of Unicode change: NFC takes क़ apart, and that is how it is typed.
    """
    for pair in pairs:
        text = pair.translation.text
        if unicodedata.is_normalized("NFC", text):
            continue
        tolerated = "".join(map(_without_exclusion, text))
        composed = unicodedata.normalize("NFC", tolerated)
        if composed == tolerated:
            continue
        was, should = first_difference(tolerated, composed)
        if sorted(composed) == sorted(tolerated):
            message = f"marks in another order than that of Unicode (NFC) in {excerpt(should)}"
            yield pair.finding("not-nfc", WARNING, message)
        else:
            message = (
                f"decomposed Unicode in {excerpt(should)}:"
                f" {len(was)} characters that should be {len(should)} (NFC)"
            )
            yield pair.finding("not-nfc", ERROR, message)


@functools.cache
def _without_exclusion(char: str) -> str:
    """NFC of the character alone: itself, or its parts where it may not be composed."""
    return unicodedata.normalize("NFC", char)

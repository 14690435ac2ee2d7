"""Checks that translations are in NFC, Unicode's composed form, which keyboards usually type."""

import functools
import unicodedata
from collections.abc import Iterator, Sequence

from transforms.text.translation.checks.pairs import ERROR, WARNING, Pair, excerpt, first_difference
from transforms.text.translation.records import Finding


def find_decomposed(pairs: Sequence[Pair]) -> Iterator[Finding]:
    """Yields `not-nfc` for translations that are not in NFC.

    The finding is an error if letters are decomposed, and a warning if only the order of combining marks
    differs from NFC. Unicode's composition exclusions are not reported: NFC decomposes क़, but keyboards type
    it.
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
    """Returns a character unchanged; if NFC decomposes it (a composition exclusion), returns its parts."""
    return unicodedata.normalize("NFC", char)

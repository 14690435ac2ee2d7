"""Checks that translations are in NFC, the composed form of Unicode, which keyboards usually produce."""

import functools
import unicodedata
from collections.abc import Iterator, Sequence

from corpusmill.pipelines.translation.pairs import ERROR, WARNING, Pair, excerpt, first_difference
from corpusmill.transforms.files.translation_records import Finding


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
        tolerated = "".join(map(_without_exclusion, text))
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


@functools.cache
def _without_exclusion(char: str) -> str:
    """Decomposes a character if NFC does so (composition exclusions). Returns other characters unchanged."""
    return unicodedata.normalize("NFC", char)

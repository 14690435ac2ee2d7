"""Blanks before and behind a line."""

from collections.abc import Iterator, Sequence

from transforms.text.translation.checks.pairs import WARNING, Pair
from transforms.text.translation.records import Finding

# Neither is white space for Python, and both are found at the ends of real lines.
_ZERO_WIDTH = "\u200b\ufeff"


def find_outer_blanks(pairs: Sequence[Pair]) -> Iterator[Finding]:
    """`outer-blanks`: a warning, as they do no harm to a reader, and to a comparison of texts."""
    for pair in pairs:
        text = pair.translation.text
        inner = text.strip().strip(_ZERO_WIDTH).strip()
        if inner and inner != text:
            sides = (("before", text.startswith), ("behind", text.endswith))
            ends = [side for side, has_at in sides if not has_at(inner)]
            yield pair.finding("outer-blanks", WARNING, f"spaces {' and '.join(ends)} the line")

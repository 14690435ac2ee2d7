"""Finds spaces at the beginning and end of translations."""

from collections.abc import Iterator, Sequence

from corpusmill.pipelines.translation.pairs import WARNING, Pair
from corpusmill.transforms.files.translation_records import Finding

# Python does not count these as white space; they occur at the ends of real lines.
_ZERO_WIDTH = "\u200b\ufeff"


def find_outer_blanks(pairs: Sequence[Pair]) -> Iterator[Finding]:
    """Yields a warning `outer-blanks` for each translation with spaces at its beginning or end.

    Readers do not see such spaces, but they affect comparisons of texts.
    """
    for pair in pairs:
        text = pair.translation.text
        inner = text.strip().strip(_ZERO_WIDTH).strip()
        if inner and inner != text:
            sides = (("before", text.startswith), ("behind", text.endswith))
            ends = [side for side, has_at in sides if not has_at(inner)]
            yield pair.finding("outer-blanks", WARNING, f"spaces {' and '.join(ends)} the line")

"""Checks that a translation contains the web and e-mail addresses of its source unchanged."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from corpusmill.pipelines.translation.pairs import ERROR, Pair, excerpt
from corpusmill.transforms.files.translation_records import Finding

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

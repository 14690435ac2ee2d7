"""Web and mail addresses, which a translation keeps to the letter."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from transforms.text.translation.checks.pairs import ERROR, Pair, excerpt
from transforms.text.translation.records import Finding

# ASCII alone, so that a sign or letter of the language that follows without a blank is no part of it.
_ADDRESS = re.compile(
    r"https?://[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+"
    r"|www\.[A-Za-z0-9\-]+\.[A-Za-z0-9\-._~:/?#@!$&()*+,;=%]+"
    r"|[A-Za-z0-9._%+\-]+@[A-Za-z0-9\-]+\.[A-Za-z0-9.\-]+",
    re.ASCII,
)
_CLOSING = ".,;:!?)]'"  # of the sentence, not of the address


def find_changed_addresses(pairs: Sequence[Pair]) -> Iterator[Finding]:
    """`urls-differ`: an address that is lost, changed, or in the translation alone."""
    for pair in pairs:
        source, target = (
            Counter(addresses(text)) for text in (pair.source.text, pair.translation.text)
        )
        lost = " ".join(map(excerpt, source - target))
        new = " ".join(map(excerpt, target - source))
        if lost and new:
            message = f"the address must stay {lost}, and is {new}"
        elif lost:
            message = f"the address {lost} of the source is not there"
        elif new:
            message = f"the address {new} is not in the source"
        else:
            continue
        yield pair.finding("urls-differ", ERROR, message)


def addresses(text: str) -> list[str]:
    """The addresses of a text in their order, without the sentence's own punctuation at their end."""
    return [match[0].rstrip(_CLOSING) for match in _ADDRESS.finditer(text)]

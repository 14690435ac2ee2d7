"""Finds different source sentences that have identical translations."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from corpusmill.pipelines.translation.pairs import ERROR, WARNING, Pair, fold
from corpusmill.pipelines.translation.presence import is_text
from corpusmill.transforms.files.translation_records import Finding

# folded characters; shorter texts such as "Thank you." and "Thanks." may have one translation
_MIN_CHARS = 12


def find_repeats(pairs: Sequence[Pair]) -> Iterator[Finding]:
    """Yields a finding for each translation that is also the translation of another source sentence.

    The finding is called `duplicate`, or `dev-devtest-overlap` if the two source sentences are in different
    splits. Translations with the same letters and digits count as identical. All of them are reported,
    because any of them may be wrong. A finding is a warning if the translation is short, or if the source
    sentences are identical too. Otherwise it is an error.
    """
    same: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        text = fold(pair.translation.text)
        if is_text(text):
            same[text].append(pair)
    for text, repeats in same.items():
        for place, pair in enumerate(repeats):
            if len(repeats) > 1:
                yield _repeat(pair, repeats[0 if place else 1], text)


def _repeat(pair: Pair, other: Pair, text: str) -> Finding:
    is_same_source = fold(pair.source.text) == fold(other.source.text)
    severity = WARNING if is_same_source or len(text) < _MIN_CHARS else ERROR
    reason = "which has the same source text" if is_same_source else "which has another source text"
    message = f"the same translation as that of {other.source.id}, {reason}"
    if pair.source.split == other.source.split:
        return pair.finding("duplicate", severity, message)
    splits = " and ".join(sorted({pair.source.split, other.source.split}))
    return pair.finding("dev-devtest-overlap", severity, f"{message}: {splits} overlap")

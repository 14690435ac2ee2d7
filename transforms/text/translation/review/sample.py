"""Which sentences are reviewed: a share of them, the same ones in all languages."""

import math
from collections.abc import Iterable
from fractions import Fraction

from transforms.text.fingerprint import fingerprint
from transforms.text.translation.records import SourceSentence


def choose_sample(sources: Iterable[SourceSentence], share: Fraction, seed: int) -> tuple[str, ...]:
    """The ids of the sentences that are reviewed, in the order of the sources.

    They are the ceil(share × n) sentences with the smallest fingerprints of "<seed>\\t<id>", so a larger
    share holds all of a smaller one, and neither texts nor order decide. FLORES-101 reviews a fifth.
    Raises ValueError for a share that is not above 0 and at most 1, and for an id that is there twice.
    """
    if not 0 < share <= 1:
        raise ValueError(f"the share of sentences to review is above 0 and at most 1, not {share}")
    ids = [source.id for source in sources]
    if len(set(ids)) < len(ids):
        raise ValueError("two source sentences have the same id")
    chosen = sorted(ids, key=lambda id_: (fingerprint(f"{seed}\t{id_}"), id_))
    kept = set(chosen[: math.ceil(share * len(ids))])
    return tuple(id_ for id_ in ids if id_ in kept)

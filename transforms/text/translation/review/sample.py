"""Chooses the sentences to review: a share of them, the same ones in all languages."""

import math
from collections.abc import Iterable
from fractions import Fraction

from transforms.text.fingerprint import fingerprint
from transforms.text.translation.records import SourceSentence


def choose_sample(sources: Iterable[SourceSentence], share: Fraction, seed: int) -> tuple[str, ...]:
    """The ids of the sentences that are reviewed, in the order of the sources.

    They are the ceil(share × n) sentences with the smallest fingerprints of "<seed>\\t<id>", so a larger
    share holds all of a smaller one, and neither texts nor order decide. FLORES-101 reviews a fifth.

    Args:
      sources: with different ids.
      share: above 0 and at most 1.
    """
    ids = [source.id for source in sources]
    chosen = sorted(ids, key=lambda id_: (fingerprint(f"{seed}\t{id_}"), id_))
    kept = set(chosen[: math.ceil(share * len(ids))])
    return tuple(id_ for id_ in ids if id_ in kept)

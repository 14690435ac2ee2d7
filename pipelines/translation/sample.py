"""Samples the sentences whose translations are reviewed. They are the same in all languages."""

import math
from collections.abc import Iterable
from fractions import Fraction

from corpusmill.transforms.files.fingerprint import fingerprint
from corpusmill.transforms.files.translation_records import SourceSentence


def choose_sample(sources: Iterable[SourceSentence], share: Fraction, seed: int) -> tuple[str, ...]:
    """Returns the ids of the sentences to review, in the order of the sources.

    The sample has ceil(share × n) of the n sentences: those with the smallest fingerprints of
    "<seed>\\t<id>". So the sample for a larger share includes the sample for a smaller one, and the sample
    depends neither on texts nor on their order. FLORES-101 reviews 20 %.

    Args:
      sources: the source sentences, with unique ids.
      share: the share of the sentences to review, above 0 and at most 1.
      seed: a number; another seed gives another sample.
    """
    ids = [source.id for source in sources]
    chosen = sorted(ids, key=lambda id_: (fingerprint(f"{seed}\t{id_}"), id_))
    kept = set(chosen[: math.ceil(share * len(ids))])
    return tuple(id_ for id_ in ids if id_ in kept)

"""Replaces words that are not in the vocabulary by <UNK>, in shuffled shards."""

import functools

import apache_beam as beam
from apache_beam.pvalue import AsSingleton

from corpusmill.transforms.files.records import LineShard
from corpusmill.transforms.files.scratch import Scratch, fetch
from corpusmill.transforms.models import vocabulary


class MapUnknown(beam.PTransform):
    """Replaces words that are not in the vocabulary by <UNK>.

    PCollection[LineShard] → PCollection[LineShard].

    The shards are stored until the vocabulary is complete. Every worker holds the vocabulary in memory, about
    ten bytes per word.

    Args:
      folder: output folder of the build.
      words: side input with one packed list of the words to keep (see text/vocabularies/vocabulary.py).
    """

    def __init__(self, folder: str, words: beam.PCollection):
        super().__init__()
        self.scratch = Scratch(folder)
        self.words = words

    def expand(self, shards: beam.PCollection) -> beam.PCollection:
        return (
            shards
            | "PutAway" >> beam.Map(put_away, self.scratch).with_output_types(LineShard)
            | "MapShard"
            >> beam.Map(map_shard, AsSingleton(self.words)).with_output_types(LineShard)
        )


def put_away(shard: LineShard, scratch: Scratch) -> LineShard:
    """Stores the lines of a shard in scratch.

    Returns the shard with a reference to the stored lines instead of the lines.
    """
    return shard._replace(block=scratch.put(shard.block))


def map_shard(shard: LineShard, packed_words: bytes) -> LineShard:
    """Fetches a shard from scratch, and replaces words that are not in the vocabulary by <UNK>.

    `packed_words` is the packed list of the words of the vocabulary.
    """
    words = _unpack_words(packed_words)
    return shard._replace(block=vocabulary.map_unknown(fetch(shard.block), words))


_unpack_words = functools.lru_cache(1)(vocabulary.unpack_words)

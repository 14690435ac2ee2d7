"""Shuffled shards → the same with <UNK> for every word that is not in the vocabulary."""

import functools

import apache_beam as beam
from apache_beam.pvalue import AsSingleton

from transforms.files.scratch import Scratch, fetch
from transforms.records import LineShard
from transforms.text.vocabularies import vocabulary


class MapUnknown(beam.PTransform):
    """PCollection[LineShard] → PCollection[LineShard].

    The shards wait until the vocabulary is there. Every worker holds all of it: some ten bytes a word.

    Args:
      folder: of the build.
      words: one packed list of the words that stay (see text/vocabulary.py).
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
    """The shard with what `fetch` takes in place of its lines."""
    return shard._replace(block=scratch.put(shard.block))


def map_shard(shard: LineShard, packed_words: bytes) -> LineShard:
    """The shard that was put away, with <UNK> for the words that are not listed."""
    words = _unpack_words(packed_words)
    return shard._replace(block=vocabulary.map_unknown(fetch(shard.block), words))


_unpack_words = functools.lru_cache(1)(vocabulary.unpack_words)

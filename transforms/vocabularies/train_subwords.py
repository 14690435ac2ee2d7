"""Articles of train → a SentencePiece vocabulary, learned from a sample that anybody can take again.

The sample are the articles with the smallest fingerprints. Files are in the order of the fingerprint,
so these are the first records of train of the finished corpus.
"""

import hashlib
from array import array
from collections.abc import Iterable, Iterator

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import AsSingleton

from transforms.files import counters
from transforms.files.write_files import HashedFile, write_text
from transforms.records import OutputFile, PackedArticle
from transforms.text.fingerprint import fingerprint
from transforms.text.vocabularies.subwords import (
    SubwordSettings,
    TrainedSubwords,
    UntrainableError,
    train_model,
    vocabulary_of,
    vocabulary_size_of,
)
from transforms.wiki.article_rows import order
from transforms.wiki.pack_articles import from_bytes, to_bytes, unpack_text

STAGE = "train-subwords"
FOLDER = "sentencepiece"
MODEL_KIND = "sentencepiece-model"
VOCABULARY_KIND = "sentencepiece-vocabulary"

LARGEST_RANK = (1 << 63) - 1


class TrainSubwords(beam.PTransform):
    """PCollection[PackedArticle] → one TrainedSubwords, also where there is no article.

    One worker trains: it holds the sample, packed, and what `train_model` takes.
    """

    def __init__(self, settings: SubwordSettings):
        super().__init__()
        self.settings = settings

    def expand(self, articles: beam.PCollection) -> beam.PCollection:
        train = articles | "OfTrain" >> beam.Filter(is_train)
        last = (
            train
            | "Ranks" >> beam.Map(rank_of)
            | "LastOfSample" >> beam.CombineGlobally(SmallestRanks(self.settings.sample_articles))
        )
        sample = (
            train
            | "Sample" >> beam.Filter(is_sampled, AsSingleton(last))
            | "ToBytes" >> beam.Map(to_bytes)
        )
        # Without an article there would be no group, and nobody to say that there is no model.
        start = articles.pipeline | "Start" >> beam.Create([b""])
        return (
            (sample, start)
            | "SampleAndStart" >> beam.Flatten()
            | "OneKey" >> beam.Map(under_one_key)
            | "GroupSample" >> beam.GroupByKey()
            | "Train" >> beam.Map(train_on_sample, self.settings)
        )


class SmallestRanks(beam.CombineFn):
    """Ranks → the n-th smallest, or the largest there can be where they are fewer."""

    def __init__(self, n: int):
        super().__init__()
        self.n = n

    def create_accumulator(self) -> "array[int]":
        return array("Q")

    def add_input(self, smallest: "array[int]", value: int) -> "array[int]":
        smallest.append(value)
        return self._cut(smallest) if len(smallest) > 2 * self.n else smallest

    def merge_accumulators(self, accumulators: Iterable["array[int]"]) -> "array[int]":
        merged = array("Q")
        for smallest in accumulators:
            merged.extend(smallest)
            merged = self._cut(merged)
        return merged

    def extract_output(self, smallest: "array[int]") -> int:
        cut = self._cut(smallest)
        return max(cut) if len(cut) == self.n else LARGEST_RANK

    def _cut(self, smallest: "array[int]") -> "array[int]":
        if len(smallest) <= self.n:
            return smallest
        values = np.frombuffer(smallest, dtype=np.uint64)
        return array("Q", np.partition(values, self.n - 1)[: self.n].tobytes())


def is_train(article: PackedArticle) -> bool:
    """Whether a vocabulary may be learned from the article."""
    return article.split == "train"


def rank_of(article: PackedArticle) -> int:
    """The fingerprint of the identity without its last bit: Beam's integers have 63 bits and a sign."""
    return fingerprint(article.wikidata_id) >> 1


def is_sampled(article: PackedArticle, last: int) -> bool:
    """Whether the article stands before the last of the sample, or beside it."""
    return rank_of(article) <= last


def under_one_key(data: bytes) -> tuple[int, bytes]:
    """(0, article)."""
    return 0, data


def train_on_sample(
    grouped: tuple[int, Iterable[bytes]], settings: SubwordSettings
) -> TrainedSubwords:
    """Trains on the first articles in the order of the files."""
    _, sampled = grouped
    # Several articles about one entity share a rank: there may be more of them than wanted.
    articles = sorted((from_bytes(data) for data in sampled if data), key=order)
    articles = articles[: settings.sample_articles]
    counters.count(STAGE, "begun", len(articles))
    counters.flush()
    trained = train_on(
        ((one.wikidata_id, one.version_id, unpack_text(one)) for one in articles), settings
    )
    counters.count(STAGE, "articles", trained.sampled_articles)
    counters.flush()
    return trained


def train_on(
    articles: Iterable[tuple[str, str, str]], settings: SubwordSettings
) -> TrainedSubwords:
    """Trains on all articles given, as (wikidata id, version id, text)."""
    sample = _Sample(articles)
    model, reason = b"", ""
    try:
        model = train_model(sample.texts(), settings)
    except UntrainableError as error:  # a corpus without a vocabulary is a corpus
        reason = str(error)
    return TrainedSubwords(
        model=model,
        vocabulary_size=vocabulary_size_of(model) if model else 0,
        sampled_articles=sample.articles,
        sample_sha256=sample.digest.hexdigest(),
        reason=reason,
    )


class _Sample:
    """Articles that are named and counted as their texts are read."""

    def __init__(self, articles: Iterable[tuple[str, str, str]]):
        self._articles = articles
        self.articles = 0
        self.digest = hashlib.sha256()

    def texts(self) -> Iterator[str]:
        for wikidata_id, version_id, text in self._articles:
            self.articles += 1
            self.digest.update(f"{wikidata_id}\t{version_id}\n".encode())
            yield text


class WriteSubwords(beam.PTransform):
    """PCollection[TrainedSubwords] → PCollection[OutputFile]: `sentencepiece/<name>.model` and `.vocab`.

    Writes nothing where there is no model.
    """

    def __init__(self, folder: str, name: str):
        super().__init__()
        self.folder = folder
        self.name = name

    def expand(self, trained: beam.PCollection) -> beam.PCollection:
        return trained | beam.FlatMap(write_subwords, self.folder, self.name)


def write_subwords(trained: TrainedSubwords, folder: str, name: str) -> Iterator[OutputFile]:
    """Writes the model, and its pieces for people."""
    if not trained.model:
        return
    path = f"{FOLDER}/{name}"
    with HashedFile.in_folder(folder, f"{path}.model") as file:
        file.write(trained.model)
    yield file.output_file(f"{path}.model", "", MODEL_KIND, trained.vocabulary_size)
    vocabulary = vocabulary_of(trained.model)
    yield write_text(folder, f"{path}.vocab", vocabulary, VOCABULARY_KIND)

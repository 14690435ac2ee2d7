"""Trains a SentencePiece vocabulary on a reproducible sample of the articles in the split train.

The sample consists of the articles whose Wikidata ids have the smallest fingerprints (hashes). The files of
a corpus are sorted by fingerprint, so these articles are the first records of the split train.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence

import apache_beam as beam
from apache_beam.pvalue import AsSingleton
from apache_beam.transforms.combiners import TopCombineFn

from corpusmill.transforms.files import counters
from corpusmill.transforms.files.fingerprint import fingerprint
from corpusmill.transforms.files.records import OutputFile, PackedArticle
from corpusmill.transforms.models.subwords import (
    SubwordSettings,
    TrainedSubwords,
    UntrainableError,
    train_model,
    vocabulary_size_of,
)
from corpusmill.transforms.models.train_pieces import write_model
from corpusmill.transforms.wikipedia.article_rows import order
from corpusmill.transforms.wikipedia.pack_articles import from_bytes, to_bytes, unpack_text

STAGE = "train-subwords"
FOLDER = "sentencepiece"

LARGEST_RANK = (1 << 63) - 1


class TrainSubwords(beam.PTransform):
    """Trains a vocabulary on a sample of the articles in the split train.

    PCollection[PackedArticle] → PCollection of one TrainedSubwords. The TrainedSubwords has no model if none
    can be trained, for example if there are no articles.

    One worker trains. This worker needs memory for the compressed sample, and the memory that `train_model`
    needs.
    """

    def __init__(self, settings: SubwordSettings):
        super().__init__()
        self.settings = settings

    def expand(self, articles: beam.PCollection) -> beam.PCollection:
        wanted = self.settings.sample_articles
        train = articles | "OfTrain" >> beam.Filter(is_train)
        last = (
            train
            | "Ranks" >> beam.Map(descending_rank_of)
            | "Smallest" >> beam.CombineGlobally(TopCombineFn(wanted))
            | "LastOfSample" >> beam.Map(last_of_sample, wanted)
        )
        sample = (
            train
            | "Sample" >> beam.Filter(is_sampled, AsSingleton(last))
            | "ToBytes" >> beam.Map(to_bytes)
        )
        # Without this element, an input without articles would give no group, and so no output.
        start = articles.pipeline | "Start" >> beam.Create([b""])
        return (
            (sample, start)
            | "SampleAndStart" >> beam.Flatten()
            | "OneKey" >> beam.WithKeys(0)
            | "GroupSample" >> beam.GroupByKey()
            | "Train" >> beam.Map(train_on_sample, self.settings)
        )


def is_train(article: PackedArticle) -> bool:
    """Returns True if an article may be used to train a vocabulary, because it is in the split train."""
    return article.split == "train"


def rank_of(article: PackedArticle) -> int:
    """Returns the rank of an article by which the sample is drawn.

    It is the fingerprint of the article's Wikidata id without the last bit, so that it fits a signed 64-bit
    integer.
    """
    return fingerprint(article.wikidata_id) >> 1


def descending_rank_of(article: PackedArticle) -> int:
    """Returns the negative rank of an article.

    Beam finds the largest of many numbers faster than the smallest.
    """
    return -rank_of(article)


def last_of_sample(smallest: Sequence[int], wanted: int) -> int:
    """Returns the greatest rank in the sample, or LARGEST_RANK if all articles are in the sample.

    Args:
      smallest: the `wanted` smallest ranks, or all if there are fewer, as negative numbers (see
        `descending_rank_of`).
      wanted: number of articles to sample.
    """
    return -min(smallest) if len(smallest) == wanted else LARGEST_RANK


def is_sampled(article: PackedArticle, last: int) -> bool:
    """Returns True if an article is in the sample, because its rank is at most `last`."""
    return rank_of(article) <= last


def train_on_sample(
    grouped: tuple[int, Iterable[bytes]], settings: SubwordSettings
) -> TrainedSubwords:
    """Trains a vocabulary on the sampled articles, in the order in which the files of the corpus have them.

    The first element of `grouped` is not used. The second one has the serialised articles. Empty byte strings
    among them are ignored.
    """
    _, sampled = grouped
    # Several articles about one entity have the same rank, so there may be more articles than requested.
    articles = sorted((from_bytes(data) for data in sampled if data), key=order)
    articles = articles[: settings.sample_articles]
    texts = ((one.wikidata_id, one.version_id, unpack_text(one)) for one in articles)
    return train_on(texts, settings, len(articles))


def train_on(
    articles: Iterable[tuple[str, str, str]], settings: SubwordSettings, expected: int
) -> TrainedSubwords:
    """Trains a vocabulary on the given articles.

    Args:
      articles: (Wikidata id, version id, text) of each article, in the order of training.
      settings: the settings of the vocabulary.
      expected: number of articles, for the progress display.
    """
    digest, read = hashlib.sha256(), 0

    def texts() -> Iterator[str]:
        nonlocal read
        for wikidata_id, version_id, text in articles:
            digest.update(f"{wikidata_id}\t{version_id}\n".encode())
            read += 1
            counters.count(STAGE, "articles")
            yield text

    def tell(words: int) -> None:
        counters.count(STAGE, "words", words)
        counters.flush()

    counters.count(STAGE, "begun", expected)
    counters.flush()
    model, reason = b"", ""
    try:
        model = train_model(texts(), settings, tell)
    except UntrainableError as error:  # the corpus is built without a vocabulary
        reason = str(error)
    size = vocabulary_size_of(model) if model else 0
    return TrainedSubwords(model, size, read, digest.hexdigest(), reason)


def write_subwords(trained: TrainedSubwords, folder: str, name: str) -> Iterator[OutputFile]:
    """Writes `sentencepiece/<name>.model` and `.vocab`. Writes nothing if there is no model."""
    if trained.model:
        yield from write_model(folder, f"{FOLDER}/{name}", trained.model, trained.vocabulary_size)

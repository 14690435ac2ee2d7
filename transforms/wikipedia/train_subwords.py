"""Trains a SentencePiece vocabulary on a reproducible sample of the articles in the split train.

The sample consists of the articles whose Wikidata ids have the smallest fingerprints (hashes). The files of
a corpus are sorted by fingerprint, so these articles are the first records of the split train.

Counts the vocabulary pieces of articles, by split.

Learns a SentencePiece vocabulary from a corpus, and counts the vocabulary's pieces in the corpus.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsSingleton
from apache_beam.transforms.combiners import TopCombineFn

from ..files import counters
from ..files.distribution import transform
from ..files.records import OutputFile, PackedArticle, SubwordStats
from ..files.text import fingerprint
from ..models import subword_models
from ..models.subword_models import SubwordSettings, TrainedSubwords
from ..models.train_pieces import write_model
from .article_rows import from_bytes, order, to_bytes, unpack_text

COUNT_SUBWORDS = "count-subwords"


@transform
def CountSubwords(articles: beam.PCollection, trained: beam.pvalue.AsSideInput) -> beam.PCollection:
    """Counts the vocabulary pieces of articles.

    PCollection[PackedArticle] → PCollection[(split, SubwordStats)].

    Args:
      trained: side input with one TrainedSubwords. If it has no model, nothing is counted.
    """
    return (
        articles
        | "CountPieces" >> beam.FlatMap(count_article, trained)
        | "AddUp" >> beam.CombinePerKey(subword_models.add_subword_stats)
    )


def count_article(
    article: PackedArticle, trained: TrainedSubwords
) -> Iterator[tuple[str, SubwordStats]]:
    """Yields (split, counts of the vocabulary pieces) of an article, or nothing if there is no model."""
    if trained.model:
        yield article.split, subword_models.counter_of(trained.model).count(unpack_text(article))
        counters.count(COUNT_SUBWORDS, "articles")


TRAIN_SUBWORDS = "train-subwords"
FOLDER = "sentencepiece"

LARGEST_RANK = (1 << 63) - 1


@transform
def TrainSubwords(articles: beam.PCollection, settings: SubwordSettings) -> beam.PCollection:
    """Trains a vocabulary on a sample of the articles in the split train.

    PCollection[PackedArticle] → PCollection of one TrainedSubwords. The TrainedSubwords has no model if none
    can be trained, for example if there are no articles.

    One worker trains. This worker needs memory for the compressed sample, and the memory that `train_model`
    needs.
    """
    wanted = settings.sample_articles
    train = articles | "OfTrain" >> beam.Filter(lambda article: article.split == "train")
    last = (
        train
        | "Ranks" >> beam.Map(lambda article: -rank_of(article))  # the largest are found faster
        | "Smallest" >> beam.CombineGlobally(TopCombineFn(wanted))
        | "LastOfSample" >> beam.Map(last_of_sample, wanted)
    )
    sample = (
        train
        | "Sample" >> beam.Filter(lambda one, last: rank_of(one) <= last, AsSingleton(last))
        | "ToBytes" >> beam.Map(to_bytes)
    )
    # Without this element, an input without articles would give no group, and so no output.
    start = articles.pipeline | "Start" >> beam.Create([b""])
    return (
        (sample, start)
        | "SampleAndStart" >> beam.Flatten()
        | "OneKey" >> beam.WithKeys(0)
        | "GroupSample" >> beam.GroupByKey()
        | "Train" >> beam.Map(train_on_sample, settings)
    )


def rank_of(article: PackedArticle) -> int:
    """Returns the rank of an article by which the sample is drawn.

    It is the fingerprint of the article's Wikidata id without the last bit, so that it fits a signed 64-bit
    integer.
    """
    return fingerprint(article.wikidata_id) >> 1


def last_of_sample(smallest: Sequence[int], wanted: int) -> int:
    """Returns the greatest rank in the sample, or LARGEST_RANK if all articles are in the sample.

    Args:
      smallest: the `wanted` smallest ranks, or all if there are fewer, as negative numbers.
      wanted: number of articles to sample.
    """
    return -min(smallest) if len(smallest) == wanted else LARGEST_RANK


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
            counters.count(TRAIN_SUBWORDS, "articles")
            yield text

    def tell(words: int) -> None:
        counters.count(TRAIN_SUBWORDS, "words", words)
        counters.flush()

    counters.count(TRAIN_SUBWORDS, "begun", expected)
    counters.flush()
    model, reason = b"", ""
    try:
        model = subword_models.train_model(texts(), settings, tell)
    except subword_models.UntrainableError as error:  # the corpus is built without a vocabulary
        reason = str(error)
    size = subword_models.vocabulary_size_of(model) if model else 0
    return TrainedSubwords(model, size, read, digest.hexdigest(), reason)


def write_subwords(trained: TrainedSubwords, folder: str, name: str) -> Iterator[OutputFile]:
    """Writes `sentencepiece/<name>.model` and `.vocab`. Writes nothing if there is no model."""
    if trained.model:
        yield from write_model(folder, f"{FOLDER}/{name}", trained.model, trained.vocabulary_size)


class Vocabulary(NamedTuple):
    """The outputs of LearnVocabulary: the vocabulary, its files, and piece counts.

    All are empty if no vocabulary was requested.
    """

    subwords: beam.PCollection  # of one TrainedSubwords
    files: beam.PCollection  # of OutputFile
    stats: beam.PCollection  # of (split, SubwordStats)


@transform
def LearnVocabulary(
    corpus: beam.PCollection, settings: SubwordSettings | None, folder: str, name: str
) -> Vocabulary:
    """Learns a SentencePiece vocabulary from articles, and counts its pieces.

    PCollection[PackedArticle] → Vocabulary.

    Args:
      settings: settings of the vocabulary; None to learn no vocabulary.
      folder: output folder of the build.
      name: file name without suffix, such as "uk-32000".
    """
    if settings is None:
        nothing = corpus.pipeline | "None" >> beam.Create([])
        return Vocabulary(nothing, nothing, nothing)
    subwords = corpus | "TrainSubwords" >> TrainSubwords(settings)
    return Vocabulary(
        subwords=subwords,
        files=subwords | "WriteSubwords" >> beam.FlatMap(write_subwords, folder, name),
        stats=corpus | "CountSubwords" >> CountSubwords(AsSingleton(subwords)),
    )

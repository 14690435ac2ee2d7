"""Computes a model's score from its log-likelihood on a split of a finished build.

Reads the log-likelihoods that a training job has written to files.

The format is described in pipelines/inspect/language_model_scores.py.

Mixes the word probabilities of several language models linearly, as in Chelba et al. 2013, section 5.2.

The weights are those that maximise the likelihood of one split, found by expectation maximisation. Another
split is scored with them.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files.builds.finished_builds import Build, read_json
from corpusmill.transforms.files.builds.paper_figures import OTHER_TEXT
from corpusmill.transforms.files.read_files import InputError, match_inputs
from corpusmill.transforms.files.terminal import draw, fold_parts, screen_columns

from ..run.corpora import VERSION, paper_of, shapes
from ..run.editions import choose_build
from . import language_model_scores as scores
from .text_sources import find_rows

COLUMNS = ("document", "log_likelihood")


class _Row(msgspec.Struct):
    document: int
    log_likelihood: float | list[float]


def read_log_likelihoods(paths: Iterable[str]) -> Iterator[tuple[int, scores.LogLikelihood]]:
    """Yields a pair (index of the document, log-likelihood) for each row of all files.

    Files are Parquet, Arrow or JSON, which may be compressed. Empty files have no rows. Raises InputError for
    files that cannot be read.
    """
    for path in paths:
        for place, given in find_rows(path, COLUMNS):
            try:
                row = msgspec.convert(given, _Row)
            except msgspec.ValidationError as error:
                problem = f"row {place}: not a row of log-likelihoods: {error}"
                raise InputError(path, problem) from None
            yield row.document, row.log_likelihood


METRICS = {
    "bpc": "bits per character",
    "bpb": "bits per byte",
    "perplexity": "word-level perplexity",
}
_COUNTED = {"bpc": "characters", "bpb": "bytes", "perplexity": "words"}
UNKNOWN = "– (not counted by this build)"
_ASSUMED = "the whole text{ends} (assumed: a sum does not show what is in it)"
_PART = "words only; what is between them (line feeds, markers) is not scored"


class Score(NamedTuple):
    """A score and the values from which it was computed."""

    metric: str  # key of METRICS
    value: float
    build: Build
    split: str
    log_likelihood: float  # natural logarithm, of the whole split
    unit: str  # unit of the log-likelihoods that were added up, as in `Summed`
    normalisers: scores.Normalisers

    @property
    def covers_text(self) -> bool:
        """Is True if all characters of the split were scored, not only its words."""
        return scores.covers_text(self.unit, self.normalisers)

    @property
    def citation(self) -> str:
        """One line to cite in a paper.

        Two scores are comparable if the parts of their lines before "=" are equal.
        """
        counts = self.normalisers
        divided_by = {
            "bpc": f"chars:{counts.characters}",
            "bpb": f"bytes:{counts.text_bytes}",
            "perplexity": f"words:{counts.words}" + (f"+ends:{counts.ends}" if counts.ends else ""),
        }
        scored = "" if self.covers_text else "|scored:words"
        return (
            f"{self.metric}|{self.build.signature}|split:{self.split}|{divided_by[self.metric]}{scored}"
            f"|manifest:{self.build.sha256[:8]}|corpusmill:{VERSION} = {self.value:.4f}"
        )


def score(
    metric: str,
    corpus: str,
    split: str,
    *,
    log_likelihood: str = "",
    perplexity: float | None = None,
    base: str = "e",
) -> Score:
    """Scores a model on a split, as in the paper of the corpus.

    Args:
      metric: "bpc" (bits per character), "bpb" (bits per byte) or "perplexity" (per word).
      corpus: The folder of a finished build.
      split: The name of the split, such as "test".
      log_likelihood: A number for the whole split; or a file, or a pattern of files, with a row for each
        document.
      perplexity: The perplexity per piece of the build's own SentencePiece model, instead of
        `log_likelihood`.
      base: The base of the logarithms: "e", "2" or "10".

    Raises InputError if a folder or file cannot be read, ValueError for values that cannot be scored.
    """
    build = choose_build(corpus)
    normalisers = normalisers_of(build, split)
    if perplexity is not None:
        total = scores.log_likelihood_of_perplexity(perplexity, normalisers.pieces, "pieces")
        summed = scores.Summed(total, "piece")
    else:
        summed = _read_log_likelihood(log_likelihood, normalisers)
    total = scores.in_nats(summed.log_likelihood, base if perplexity is None else "e")
    if metric != "perplexity" and not scores.covers_text(summed.unit, normalisers):
        raise ValueError(
            f"{log_likelihood}: the lists have one log-likelihood per word; what is between the words (line"
            f" feeds, markers) is not scored, so {METRICS[metric]} cannot be computed: give one"
            " log-likelihood for each document, of its whole text"
        )
    can = _metrics_of(normalisers)
    if can and metric not in can:
        raise ValueError(
            f"{METRICS[metric]} cannot be computed: the build did not count the {_COUNTED[metric]} of"
            f" {split}; it can be scored with {' and '.join(can)}"
        )
    value = next(_values(metric, total, normalisers))[1]
    return Score(metric, value, build, split, total, summed.unit, normalisers)


def normalisers_of(build: Build, split: str) -> scores.Normalisers:
    """Returns the counts by which scores of a split are divided (normalisers), such as words and characters.

    They are read from the manifest, or from stats.json if the manifest has no counts.
    """
    with_text = [name for name, shape in shapes().items() if any(shape.splits)]
    if build.corpus not in with_text:
        raise InputError(
            build.folder,
            f"a build of {build.corpus} has no text to score a model on: use one of {', '.join(with_text)}",
        )
    if "stats" in build.manifest:
        return scores.read_normalisers(build.manifest, split)
    path = FileSystems.join(build.folder, "stats.json")
    if "stats.json" not in [file["name"] for file in build.manifest["outputs"]]:
        raise InputError(
            build.folder,
            "the build has no counts by which a score is divided: translations are scored by `score spbleu`",
        )
    try:
        found = scores.read_normalisers({"stats": read_json(build.folder, "stats.json")}, split)
    except ValueError as error:
        raise InputError(path, str(error)) from None
    kept = build.manifest.get("counts", {}).get("kept", {}).get(split)
    if found.documents != kept:
        raise InputError(
            path,
            f"says that the split {split} has {found.documents} documents, but the manifest says {kept}",
        )
    return found


def _read_log_likelihood(text: str, normalisers: scores.Normalisers) -> scores.Summed:
    try:
        return scores.Summed(float(text), "document")
    except ValueError:
        pass
    try:
        paths = match_inputs([text])
    except InputError as error:
        raise InputError(error.path, f"neither a number nor a file: {error.message}") from None
    try:
        return scores.sum_log_likelihoods(read_log_likelihoods(paths), normalisers)
    except ValueError as error:
        raise ValueError(f"{text}: {error}") from None


def _values(metric: str, total: float, counts: scores.Normalisers) -> Iterator[tuple[str, float]]:
    """Yields a pair (name, value) for each variant of a metric: first the variant of the paper, then others.

    The variants count the same text in different ways, such as with the ends of lines as words or not.

    Args:
      total: The log-likelihood of the whole split, in nats.
    """
    name = METRICS[metric]
    if metric == "bpc":
        yield name, scores.bits_per_character(total, counts.characters)
        if counts.line_feeds:
            which = " not" if counts.has_line_feeds else ""
            other = scores.bits_per_character(total, counts.other_characters)
            yield f"{name}, line feeds{which} counted", other
    elif metric == "bpb":
        yield name, scores.bits_per_byte(total, counts.text_bytes)
    else:
        yield name, scores.word_level_perplexity(total, counts.words, counts.ends)
        if counts.ends:
            yield (
                f"{name}, ends of lines not counted",
                scores.word_level_perplexity(total, counts.words),
            )


def print_score(found: Score) -> None:
    """Prints a score, the counts from which it was computed, and the scores in the paper.

    Also prints the values of the other metrics that follow from the same log-likelihood.
    """
    width = screen_columns()
    table = draw(("what", "value"), _rows(found), key=2, width=width)
    print(table, *(fold_parts(found.citation, width) if width else [found.citation]), sep="\n")


def _rows(found: Score) -> Iterator[tuple[str, str]]:
    counts, total = found.normalisers, found.log_likelihood
    yield "corpus", found.build.signature
    yield "split", found.split
    yield "log-likelihood", f"{total:,.3f} nats"
    yield "scored", _scored(found)
    yield from _counts(counts)
    yield METRICS[found.metric], f"{found.value:.4f}"
    others = list(_values(found.metric, total, counts))[1:]
    if found.covers_text:
        others += _other_metrics(found)
    for name, value in others:
        yield f"equals {name}", f"{value:.4f}" if value < math.inf else "out of range"
    yield from _paper(found)


def _paper(found: Score) -> Iterator[tuple[str, str]]:
    """Yields the scores of the paper and the perplexity over its number of words, or why there are none.

    The paper of PG-19 asks to divide by its number of words, however the text was tokenised.
    """
    signature = found.build.signature
    paper = paper_of(signature)
    papers, beside = paper.scores_of(signature, found.split), paper.beside(found.build.manifest)
    is_divided = found.metric == "perplexity" and found.split in paper.documents
    words = paper.words.get(found.split) if is_divided else None
    why_not = beside.no_score
    if not (why_not or found.covers_text):
        why_not = "the models of the paper also predict what is between the words"
    if words and paper.has_split(found.build.manifest, found.split):
        value = scores.word_level_perplexity(found.log_likelihood, words)
        yield f"{METRICS['perplexity']} over the {words:,} words of the paper", f"{value:.4f}"
        words = None
    if why_not:
        if papers or words:
            yield "paper, and its number of words" if words else "paper", f"– ({why_not})"
        return
    for of_paper in papers:
        yield f"paper: {METRICS[of_paper.metric]}", f"{of_paper.printed} ({of_paper.model})"
    if papers and not beside.is_released:
        yield "note", OTHER_TEXT


def _scored(found: Score) -> str:
    """Says which part of the text the log-likelihood is of."""
    if not found.covers_text:
        return _PART
    unit, counts = found.unit, found.normalisers
    if unit == "document":
        return _ASSUMED.format(ends=" with its ends of lines" if counts.ends else "")
    number = counts.pieces if unit == "piece" else counts.predicted_words
    return f"{number:,} log-likelihoods, one per {unit}"


def _other_metrics(found: Score) -> Iterator[tuple[str, float]]:
    counts, total = found.normalisers, found.log_likelihood
    for metric in _metrics_of(counts):
        if metric != found.metric:
            yield from _values(metric, total, counts)
    if found.unit == "piece":
        yield "perplexity per piece", scores.perplexity_per_piece(total, counts.pieces)


def _metrics_of(counts: scores.Normalisers) -> list[str]:
    """Returns the metrics for which a split has counts; none if it is empty."""
    known = {"bpc": counts.characters, "bpb": counts.text_bytes, "perplexity": counts.words}
    return [metric for metric, count in known.items() if count]


def _counts(counts: scores.Normalisers) -> Iterator[tuple[str, str]]:
    yield "characters", f"{counts.characters:,}" if counts.characters else UNKNOWN
    line_feeds = counts.line_feeds
    name = "line feeds, included" if counts.has_line_feeds else "line feeds, not included"
    yield name, UNKNOWN if line_feeds is None else f"{line_feeds:,}"
    yield "bytes", f"{counts.text_bytes:,}" if counts.text_bytes else UNKNOWN
    yield "pieces", f"{counts.pieces:,}" if counts.pieces else "– (no SentencePiece model)"
    yield "words", f"{counts.words:,}" if counts.words else UNKNOWN
    if counts.ends:
        yield "ends of lines, counted as words", f"{counts.ends:,}"
    yield "documents", f"{counts.documents:,}"


SPLIT = "{split}"  # in the name of a model's files
_NESTED = (
    {"paper_test", "test"},
    {"dev", "test"},
    {"train_2", "train"},
)  # one is a part of the other
STEPS = 1_000
LEAST_GAIN = 1e-9  # nats per token
_TOKENS = 1 << 20  # processed at once

Values = npt.NDArray[np.float64]


class Tokens(NamedTuple):
    """The log-likelihoods of the tokens of a split by several models, in the order of the documents."""

    values: Values  # [models, tokens], natural logarithms
    unit: str  # "word", or "word and end of line"


class Mixture(NamedTuple):
    """A linear mixture of models."""

    models: Sequence[str]  # patterns of files
    weights: Values  # of the models; they add up to 1
    fitted: Tokens  # on which the weights were found
    scored: Tokens


def mix_models(corpus: str, models: Sequence[str], fit: str, split: str, base: str = "e") -> None:
    """Finds the weights of a mixture on one split, scores another split with it, and prints both.

    Args:
      corpus: folder of a finished build.
      models: for each model, a pattern of files with log-likelihoods; "{split}" stands for the split.
      fit: split on which the weights are found.
      split: split to score.
      base: base of the logarithms: "e", "2" or "10".

    Raises InputError if a folder or file cannot be read, ValueError for files that cannot be mixed.
    """
    if len(models) < 2:
        raise ValueError("a mixture needs at least two models")
    if fit == split or {fit, split} in _NESTED:
        raise ValueError(f"weights must not be fitted to {fit}: it has text of {split}")
    if bare := [name for name in models if SPLIT not in name]:
        raise ValueError(
            f"{bare[0]}: write {SPLIT} in place of the name of the split, as in 'scores/{SPLIT}-*.parquet'"
        )
    build = choose_build(corpus)
    counts = {name: normalisers_of(build, name) for name in (fit, split)}
    fitted, scored = (read_tokens(models, name, counts[name], base) for name in (fit, split))
    found = Mixture(models, fit_weights(fitted.values), fitted, scored)
    for number, name in enumerate(models, 1):
        print(f"model {number}: {name}")
    print(draw(("model", "weight", fit, split), _weights(found), numbers=3, width=screen_columns()))
    total = float(log_mixture(scored.values, found.weights).sum())
    print_score(
        Score(
            "perplexity",
            _perplexity(scored, found.weights),
            build,
            split,
            total,
            scored.unit,
            counts[split],
        )
    )


def read_tokens(models: Sequence[str], split: str, counts: scores.Normalisers, base: str) -> Tokens:
    """Reads the log-likelihoods of all words of a split, for all models.

    Raises ValueError for files without a number for each word, and for models with different words.
    """
    found = [_read_model(name.replace(SPLIT, split), counts) for name in models]
    first, *others = found
    for name, (unit, lengths, _) in zip(models[1:], others, strict=True):
        if unit != first[0] or not np.array_equal(lengths, first[1]):
            raise ValueError(
                f"{name}: its documents have other numbers of log-likelihoods than those of {models[0]}:"
                " models can be mixed only if they predict the same words"
            )
    values = np.stack([values for _, _, values in found]) * np.log(scores.BASES[base])
    return Tokens(values, first[0])


def _read_model(
    pattern: str, counts: scores.Normalisers
) -> tuple[str, npt.NDArray[np.int64], Values]:
    documents: dict[int, Values] = {}

    def rows() -> Iterator[tuple[int, scores.LogLikelihood]]:
        for document, given in read_log_likelihoods(match_inputs([pattern])):
            if not isinstance(given, list):
                raise ValueError(
                    "has one number for each document: a mixture needs a list with a number for each word"
                )
            documents[document] = np.array(given)
            yield document, given

    try:
        unit = scores.sum_log_likelihoods(rows(), counts).unit
        if unit == "piece":
            raise ValueError(
                "has one number for each piece: a mixture needs a number for each word"
            )
    except ValueError as error:
        raise ValueError(f"{pattern}: {error}") from None
    in_order = [documents[number] for number in range(len(documents))]
    return unit, np.array([len(one) for one in in_order]), np.concatenate(in_order)


def fit_weights(values: Values) -> Values:
    """Returns the weights with which a linear mixture gives tokens the highest likelihood.

    They are found by expectation maximisation, which starts with equal weights. It ends when a step gains
    less than LEAST_GAIN per token, or after STEPS steps.

    Args:
      values: [models, tokens], natural logarithms of probabilities.
    """
    models, tokens = values.shape
    weights, before = np.full(models, 1 / models), -np.inf
    for _ in range(STEPS):
        shares, total = np.zeros(models), 0.0
        for start in range(0, tokens, _TOKENS):
            part = values[:, start : start + _TOKENS]
            highest = part.max(axis=0)
            weighted = weights[:, np.newaxis] * np.exp(part - highest)
            mixed = weighted.sum(axis=0)
            shares += (weighted / mixed).sum(axis=1)
            total += float((np.log(mixed) + highest).sum())
        weights = shares / tokens
        if total / tokens - before < LEAST_GAIN:
            break
        before = total / tokens
    return weights


def log_mixture(values: Values, weights: Values) -> Values:
    """Returns the natural logarithms of the mixed probabilities of tokens."""
    highest = values.max(axis=0)
    mixed: Values = np.log(weights @ np.exp(values - highest)) + highest
    return mixed


def _perplexity(tokens: Tokens, weights: Values) -> float:
    return float(np.exp(-log_mixture(tokens.values, weights).mean()))


def _weights(found: Mixture) -> Iterator[tuple[str, ...]]:
    names = map(str, range(1, len(found.models) + 1))
    alone = np.eye(len(found.models))
    rows = [*zip(names, found.weights, alone, strict=True), ("mixture", 1.0, found.weights)]
    for name, weight, weights in rows:
        both = (_perplexity(tokens, weights) for tokens in (found.fitted, found.scored))
        yield name, f"{weight:.4f}", *(f"{value:.2f}" for value in both)

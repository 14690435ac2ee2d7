"""A model's log-likelihood on a split of a finished build → a score that others can compare with."""

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple, cast

from apache_beam.io.filesystems import FileSystems

from pipelines.builds.provenance import VERSION
from transforms.builds.finished_builds import Build, open_build
from transforms.files.open_input import InputError, match_inputs, open_input, open_raw, parse_json
from transforms.text.builds.language_model_scores import (
    Normalisers,
    bits_per_character,
    in_nats,
    log_likelihood_of_perplexity,
    perplexity_per_piece,
    read_normalisers,
    sum_log_likelihoods,
    word_level_perplexity,
)
from transforms.text.files.compression import DECODE_ERRORS

METRICS = {"bpc": "bits per character", "perplexity": "word-level perplexity"}


class Score(NamedTuple):
    """A score and all that it was made of."""

    metric: str  # of METRICS
    value: float
    corpus: str  # signature of the build
    split: str
    log_likelihood: float  # natural, of all pieces
    normalisers: Normalisers
    sha256: str  # of the build's manifest

    @property
    def citation(self) -> str:
        """One line for a paper: whoever has the same line in front of the "=" has scored the same."""
        what = "chars" if self.metric == "bpc" else "words"
        count = self.normalisers.characters if what == "chars" else self.normalisers.words
        return (
            f"{self.metric}|{self.corpus}|split:{self.split}|{what}:{count}"
            f"|manifest:{self.sha256[:8]}|corpusmill:{VERSION} = {self.value:.4f}"
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
    """Scores a model on a split.

    Args:
      metric: "bpc" or "perplexity".
      corpus: folder of a finished build.
      split: "test".
      log_likelihood: a number, the sum over all pieces; or a file, or a pattern of files, with one number
        a line, of each piece or of each article.
      perplexity: per piece of the build's own SentencePiece model, in place of `log_likelihood`.
      base: of the logarithms, "e", "2" or "10".
    Raises InputError for a folder or file that cannot be read, ValueError for what cannot be scored.
    """
    build = open_build(corpus)
    normalisers = _normalisers(build, split)
    if perplexity is not None:
        total = _of_perplexity(perplexity, normalisers)
    else:
        total = in_nats(_read_log_likelihood(log_likelihood, normalisers), base)
    if metric == "bpc":
        value = bits_per_character(total, normalisers.characters)
    else:
        value = word_level_perplexity(total, normalisers.words)
    return Score(metric, value, build.signature, split, total, normalisers, build.sha256)


def _of_perplexity(perplexity: float, normalisers: Normalisers) -> float:
    if not normalisers.pieces:
        perplexity_per_piece(-1.0, normalisers.pieces)  # raises, and says what is missing
    return log_likelihood_of_perplexity(perplexity, normalisers.pieces)


def _normalisers(build: Build, split: str) -> Normalisers:
    """From the manifest, or from stats.json of builds whose manifest has no counts."""
    if "stats" in build.manifest:
        return read_normalisers(build.manifest, split)
    path = FileSystems.join(build.folder, "stats.json")
    if not FileSystems.exists(path):
        raise InputError(path, "no such file")
    with open_raw(path) as stream:
        content = stream.read()
    try:
        found = read_normalisers({"stats": parse_json(path, content)}, split)
    except ValueError as error:
        raise InputError(path, str(error)) from None
    kept = build.manifest.get("counts", {}).get("kept", {}).get(split)
    if found.articles != kept:
        raise InputError(path, f"has {found.articles} articles of {split}, {kept} were kept")
    return found


def _read_log_likelihood(text: str, normalisers: Normalisers) -> float:
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return sum_log_likelihoods(_read_lines(match_inputs([text])), normalisers)
    except InputError as error:
        raise InputError(error.path, f"no number, and {error.message}") from None
    except ValueError as error:
        raise ValueError(f"{text}: {error}") from None


def _read_lines(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        try:
            with open_input(path) as stream:
                for line in cast(Iterable[bytes], stream):
                    yield line.decode("utf-8", "replace")
        except DECODE_ERRORS as error:
            raise InputError(path, f"damaged or cut: {error}") from error


def print_score(found: Score) -> None:
    """The score, every count it was made of, and what it amounts to by other measures."""
    rows = list(_rows(found))
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:{width}}  {value}")
    print(f"\n{found.citation}")


def _rows(found: Score) -> Iterator[tuple[str, str]]:
    counts, total = found.normalisers, found.log_likelihood
    yield "corpus", found.corpus
    yield "split", found.split
    yield "log-likelihood", f"{total:,.3f} nats"
    for name, count in counts._asdict().items():
        yield name, f"{count:,}" if count else "– (no SentencePiece model)"
    yield METRICS[found.metric], f"{found.value:.4f}"
    others = {
        METRICS["bpc"]: bits_per_character(total, counts.characters),
        METRICS["perplexity"]: word_level_perplexity(total, counts.words),
    }
    if counts.pieces:
        others["perplexity per piece"] = perplexity_per_piece(total, counts.pieces)
    for name, value in others.items():
        if name != METRICS[found.metric]:
            yield f"that is, {name}", f"{value:.4f}" if value < math.inf else "out of range"

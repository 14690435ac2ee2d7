"""Estimates the time, memory and disk space of a build from its inputs, without starting or
writing anything.
"""

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files.read_files import TextSample, codec_at, file_bytes_of, sample_texts
from corpusmill.transforms.files.stores import free_bytes

from . import publish
from .corpora import CorpusRow, row_of
from .cost import WORK, Part, Rates, Text, describe_size, load_rates, parts_of

if TYPE_CHECKING:
    from .launch import Corpus

LOG = logging.getLogger(__name__)
# Builds that read sources, not other builds, need less disk space than this multiple of the stored
# size of their inputs.
_MAX_GROWTH = 50


class Role(NamedTuple):
    """The number and total size of the input files that have the same role, such as "dump"."""

    name: str
    files: int
    stored_bytes: int


class Estimate(NamedTuple):
    """The estimated cost of a build."""

    path: tuple[str, ...]  # corpus, edition, date and version
    target: str  # the folder that the build would make
    is_finished: bool  # True if the target contains a finished build
    date: str  # from the settings or the inputs
    roles: list[Role]
    text_bytes: float  # decompressed bytes of the inputs that determine the cost
    parts: list[Part]  # the work with the in-process runner; [] if the corpus was never measured
    memory_bytes: int  # needed by the in-process runner
    peak_bytes: float  # needed on disk during the build
    kept_bytes: float  # size of the finished build on disk
    free_bytes: int | None  # on the disk of the output; None for an object store

    @property
    def is_disk_too_small(self) -> bool:
        """True if the build probably needs more disk space than is free."""
        return self.free_bytes is not None and self.peak_bytes > self.free_bytes


def estimate(corpus: "Corpus", output: str, workers: int, rates: Rates) -> Estimate:
    """Returns the estimated cost of a build.

    Args:
      corpus: The build.
      output: The output folder, to find a finished build and the free disk space.
      workers: The number of worker processes.
      rates: The measured speeds of the steps of builds.
    """
    row = row_of(corpus)
    found = corpus.inputs()
    sizes = {path: file_bytes_of(path) for paths in found.values() for path in paths}
    language = getattr(corpus.config, "language", "")
    text = _text_of(corpus, row, sizes, workers)
    work = rates.find(row.name, WORK, language)
    held = [path for role, paths in found.items() if role not in corpus.unheld for path in paths]
    memory_text = row.memory.text_bytes({path: sizes[path] for path in held})
    target: str = FileSystems.join(output, *corpus.path)
    return Estimate(
        path=tuple(corpus.path),
        target=target,
        is_finished=publish.is_completed(target),
        date=corpus.provenance().dump_date,
        roles=[
            Role(role, len(paths), sum(map(sizes.__getitem__, paths)))
            for role, paths in found.items()
            if paths
        ],
        text_bytes=text.text_bytes,
        parts=parts_of(rates, row.name, language, text, workers) if work else [],
        memory_bytes=row.memory.needed(memory_text, workers),
        peak_bytes=work.peak * text.text_bytes if work else 0.0,
        kept_bytes=work.kept * text.text_bytes if work else 0.0,
        free_bytes=free_bytes(output),
    )


def warn_of_small_disk(corpus: "Corpus", output: str, workers: int) -> None:
    """Logs a warning if a build probably needs more disk space than is free.

    This is not an error: the estimate is rough, and includes stages that an earlier run has finished. If the
    disk becomes full, the build stops, and the same command resumes it.

    Args:
      output: The output folder.
      workers: The number of worker processes.
    """
    free = free_bytes(output)
    if free is None:
        return
    if row_of(corpus).read is not None:
        stored = sum(file_bytes_of(path) for paths in corpus.inputs().values() for path in paths)
        if free > _MAX_GROWTH * stored:
            return  # without an estimate, which takes time: it reads the beginnings of inputs
    found = estimate(corpus, output, workers, load_rates())
    if found.is_disk_too_small:
        LOG.warning(
            "the build needs about %s of disk space, but only %s are free at %s; if the disk becomes full,"
            " free some space and start the same command again: finished stages are kept",
            describe_size(found.peak_bytes),
            describe_size(found.free_bytes or 0),
            output,
        )


def _text_of(corpus: "Corpus", row: CorpusRow, sizes: Mapping[str, int], workers: int) -> Text:
    """Returns the amount of text that determines the cost of a build.

    Args:
      corpus: The build.
      row: The row of the corpus in the list of corpora (corpora.py). It says which inputs contain the text.
      sizes: Path → size in bytes of all input files.
      workers: The number of worker processes.
    """
    config = corpus.config
    if row.read is None:
        return Text(getattr(corpus, "text_bytes", corpus.bytes_to_read(workers)), {})
    roles = row.read or [role for role in corpus.inputs() if role not in corpus.unheld]
    paths = [path for role in roles for path in corpus.inputs().get(role, ())]
    # A compressed file without entry points is decompressed by every worker that reads a part of
    # it.
    times = corpus.bytes_to_read(workers) / max(corpus.bytes_to_read(1), 1)
    of_codec: dict[str, list[str]] = {}
    for path in paths:
        of_codec.setdefault(codec_at(path), []).append(path)
    samples = {codec: sample_texts(of) for codec, of in of_codec.items()}
    texts = {
        codec: _text_bytes(row, codec, {path: sizes[path] for path in of}, samples[codec])
        for codec, of in of_codec.items()
    }
    articles = sum(texts[codec] * samples[codec].articles_share for codec in texts)
    sampled = getattr(config, "sample_articles", 0) * max(
        (sample.article_bytes for sample in samples.values()), default=0.0
    )
    total = sum(texts.values())
    return Text(
        text_bytes=total,
        packed={codec: size * times for codec, size in texts.items() if codec},
        articles_share=articles / total if total else 1.0,
        sampled_bytes=min(sampled, articles),
        has_near_duplicates=bool(getattr(config, "near_duplicates", 0)),
        has_vocabulary=bool(getattr(config, "vocabulary_size", 0)),
    )


def _text_bytes(row: CorpusRow, codec: str, sizes: Mapping[str, int], sample: TextSample) -> float:
    """Returns the estimated size, in bytes, of the text in files with the same compression.

    Args:
      row: The row of the corpus in the list of corpora (corpora.py). Used if `codec` is "".
      codec: The compression of the files; "" if it was not recognised.
      sizes: Path → size in bytes of each file.
      sample: How much larger the text is than the compressed files, measured at the beginning of some of
        them. Used if `codec` is not "".
    """
    return sum(sizes.values()) * sample.expansion if codec else row.memory.text_bytes(sizes)

"""Reads the log-likelihoods that a training job has written to files.

The format is described in pipelines/inspect/language_model_scores.py.
"""

from collections.abc import Iterable, Iterator
from typing import BinaryIO, cast

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from corpusmill.pipelines.inspect.language_model_scores import LogLikelihood
from corpusmill.transforms.files.compression import DECODE_ERRORS
from corpusmill.transforms.files.open_input import InputError, open_input, open_raw

COLUMNS = ("document", "log_likelihood")
_PARQUET = b"PAR1"
_BATCH_ROWS = 1 << 14


class _Row(msgspec.Struct):
    document: int
    log_likelihood: float | list[float]


def read_log_likelihoods(paths: Iterable[str]) -> Iterator[tuple[int, LogLikelihood]]:
    """Yields a pair (index of the document, log-likelihood) for each row of all files.

    Files are Parquet or JSON lines, which may be compressed. Raises InputError for files that cannot be read.
    """
    for path in paths:
        with open_raw(path) as stream:
            is_parquet = stream.read(len(_PARQUET)) == _PARQUET
            if is_parquet:
                yield from _read_parquet(path, stream)
        if not is_parquet:
            yield from _read_lines(path)


def _read_lines(path: str) -> Iterator[tuple[int, LogLikelihood]]:
    decoder = msgspec.json.Decoder(_Row)
    try:
        with open_input(path) as stream:
            for number, line in enumerate(cast(Iterable[bytes], stream), 1):
                try:
                    row = decoder.decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError) as error:
                    raise InputError(
                        path, f"line {number}: not a row of log-likelihoods: {error}"
                    ) from None
                yield row.document, row.log_likelihood
    except DECODE_ERRORS as error:
        raise InputError(path, f"damaged or truncated: {error}") from error


def _read_parquet(path: str, stream: BinaryIO) -> Iterator[tuple[int, LogLikelihood]]:
    try:
        file = pq.ParquetFile(stream)
        missing = [name for name in COLUMNS if name not in file.schema_arrow.names]
        if missing:
            raise InputError(path, f"missing columns: {', '.join(missing)}")
        for batch in file.iter_batches(_BATCH_ROWS, columns=list(COLUMNS)):
            yield from _rows_of(path, batch)
    except pa.ArrowException as error:
        raise InputError(path, f"not a valid Parquet file: {error}") from None


def _rows_of(path: str, batch: pa.RecordBatch) -> Iterator[tuple[int, LogLikelihood]]:
    documents, given = (batch.column(name) for name in COLUMNS)
    is_list = pa.types.is_list(given.type) or pa.types.is_large_list(given.type)
    values = given.flatten() if is_list else given
    if not pa.types.is_integer(documents.type) or not pa.types.is_floating(values.type):
        types = f"their types are {documents.type} and {given.type}"
        raise InputError(
            path,
            "`document` must be an integer, and `log_likelihood` a float or a list of floats, but"
            f" {types}",
        )
    if documents.null_count or given.null_count or values.null_count:
        raise InputError(path, "has rows without a value in `document` or `log_likelihood`")
    yield from zip(documents.to_pylist(), given.to_pylist(), strict=True)

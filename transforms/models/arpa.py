"""Writes n-gram models as ARPA files, which are read by KenLM, SRILM and other programs.

Logarithms have base 10 and are 32-bit floats, as in KenLM, written with the fewest digits that identify the
number. N-grams of the same length are sorted by their hashes. Programs that read ARPA files accept n-grams in
any order.
"""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpusmill.transforms.models.backoff import Float64s
from corpusmill.transforms.models.gram_tables import Table
from corpusmill.transforms.models.number_words import SIGNS

END = b"\n\\end\\\n"


def name_words(words: pa.BinaryArray) -> pa.BinaryArray:
    """Returns the text of each word: the word with the id n is at the index n.

    The first three are the special tokens <unk>, <s> and </s>. The words of the vocabulary follow.

    Args:
      words: the vocabulary, sorted by bytes.
    """
    return pa.concat_arrays([pa.array(SIGNS, pa.binary()), words])


def make_head(grams: Mapping[int, int]) -> bytes:
    """Returns the first lines of an ARPA file, which give the number of n-grams of each order.

    Args:
      grams: order → number of n-grams.
    """
    return b"\\data\\\n" + b"".join(
        b"ngram %d=%d\n" % of_order for of_order in sorted(grams.items())
    )


def make_title(order: int) -> bytes:
    """Returns an empty line and the title line above the n-grams of an order, such as "\\2-grams:"."""
    return b"\n\\%d-grams:\n" % order


def make_lines(entries: Table, names: pa.BinaryArray, *, has_backoffs: bool) -> bytes:
    """Returns lines of an ARPA file for n-grams of one order.

    Args:
      entries: a table of n-grams with the columns ENTRIES (probability and back-off factor).
      names: the text of each word, indexed by its id (the result of `name_words`).
      has_backoffs: True to write the back-off factors. False for the highest order, which has none.
    """
    if not len(entries):
        return b""
    words = [names.take(pa.array(column)) for column in entries["words"].T]
    blanks = (b" ",) * (len(words) - 1)
    columns = [_write_logs(entries["probability"]), b"\t"]
    columns += [part for pair in zip(words, (*blanks, b""), strict=True) for part in pair]
    if has_backoffs:
        columns += [b"\t", _write_logs(entries["backoff"])]
    lines = pc.binary_join_element_wise(*columns, b"\n", b"")
    _, offsets, data = lines.buffers()
    bounds = np.frombuffer(offsets, np.int32)
    text: bytes = data.slice(bounds[0], bounds[len(lines)] - bounds[0]).to_pybytes()
    return text


def _write_logs(values: Float64s) -> pa.BinaryArray:
    logs = np.log10(values).astype(np.float32) + np.float32(0)  # no -0
    return pa.array(logs).cast(pa.string()).cast(pa.binary())

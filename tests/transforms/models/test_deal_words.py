from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from apache_beam.pvalue import AsSingleton

from corpusmill.transforms.files.scratch import fetch
from corpusmill.transforms.models import count_words as deal_words
from corpusmill.transforms.models.count_words import DealWords
from corpusmill.transforms.models.word_vocabulary import count_words, unpack_counts
from tests.tools.run_pipeline import run_inputs

TEXTS = [b"a b a\n", b"", b"b c\n", b"none\n", b"a\n"]


def count(text: bytes, passed_over: bytes) -> pa.RecordBatch | None:
    return None if text == passed_over else count_words(text)


@pytest.mark.parametrize(("gathered_words", "buckets"), [(1, 5), (3, 1), (1000, 5)])
def test_every_word_comes_to_its_own_bucket(
    tmp_path: Path, gathered_words: int, buckets: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deal_words, "GATHERED_WORDS", gathered_words)
    outcome = run_inputs(
        lambda texts, none: texts | DealWords(str(tmp_path), count, buckets, AsSingleton(none)),
        **{"texts": TEXTS, "none": [b"none\n"]},
    )
    counts: Counter[bytes] = Counter()
    bucket_of: dict[bytes, int] = {}
    for bucket, packed in outcome.elements["main"]:
        for row in unpack_counts(fetch(packed)).to_pylist():
            counts[row["word"]] += row["count"]
            assert bucket_of.setdefault(row["word"], bucket) == bucket
    assert counts == {b"a": 3, b"b": 2, b"c": 1}
    assert len(set(bucket_of.values())) > (buckets > 1)

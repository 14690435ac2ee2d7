import collections
import random
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.tools.run_pipeline import Outcome, run_pipeline, run_transform
from transforms.records import Article, CorpusStats, PackedArticle
from transforms.text.files.tf_example import encode_example
from transforms.text.fingerprint import SPLITS, fingerprint, split_of
from transforms.wiki import write_corpus
from transforms.wiki.pack_articles import pack_article, to_bytes, unpack_text
from transforms.wiki.write_corpus import SCHEMA, PlanShards, WriteCorpus, order, write_shard


def article(number: int, identity: str = "") -> PackedArticle:
    identity = identity or f"Q{number}"
    text = f"\n_START_ARTICLE_\nСтаття {number}\n_START_PARAGRAPH_\nтекст\x7f 富士山"
    packed = pack_article(Article(number, f"Стаття {number}", str(number * 10), text))
    return packed._replace(wikidata_id=identity, split=split_of(identity))


ARTICLES = [*map(article, range(1, 120)), article(500, "Q7"), article(501, "ukwiki:501")]


def by_fingerprint(article: PackedArticle) -> tuple[int, str, int]:
    return fingerprint(article.wikidata_id), article.wikidata_id, article.page_id


def write(folder: Path, articles: list[PackedArticle], shards: dict[str, int]) -> Outcome:
    def build(root: beam.Pipeline) -> Mapping[str, beam.PCollection]:
        plan = root | "Plan" >> beam.Create([shards])
        created = root | "Articles" >> beam.Create(articles)
        return {"files": created | WriteCorpus(str(folder), "wiki40b", plan)}

    return run_pipeline(build)


def records_of(path: Path) -> Iterator[bytes]:
    data, at = path.read_bytes(), 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        yield data[at + 12 : at + 12 + length]
        at += 12 + length + 4


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_both_formats_hold_the_articles_of_the_split_in_fingerprint_order(tmp_path: Path) -> None:
    shards = {"train": 3, "validation": 1, "test": 2}
    outcome = write(tmp_path, ARTICLES, shards)
    for split in SPLITS:
        count = shards[split]
        expected = sorted((one for one in ARTICLES if one.split == split), key=by_fingerprint)
        rows: list[dict[str, str]] = []
        examples: list[bytes] = []
        for shard in range(count):
            table = pq.read_table(tmp_path / f"{split}-{shard:05d}-of-{count:05d}.parquet")
            assert table.schema == SCHEMA
            rows += table.to_pylist()
            examples += records_of(
                tmp_path / f"wiki40b-{split}.tfrecord-{shard:05d}-of-{count:05d}"
            )
        features = [
            {"wikidata_id": one.wikidata_id, "text": unpack_text(one), "version_id": one.version_id}
            for one in expected
        ]
        assert rows == features
        assert examples == [encode_example(one) for one in features]
    assert outcome.counters == {"write-corpus/articles": len(ARTICLES)}
    records: collections.Counter[str] = collections.Counter()
    for file in outcome.elements["files"]:
        records[f"{file.format} {file.split}"] += file.records
        assert file.bytes == (tmp_path / file.name).stat().st_size
    kept = collections.Counter(one.split for one in ARTICLES)
    assert records == {
        f"{kind} {split}": kept[split] for kind in ("parquet", "tfrecord") for split in SPLITS
    }
    assert sorted(file.name for file in outcome.elements["files"]) == sorted(bytes_of(tmp_path))


def test_the_order_of_the_articles_does_not_matter(tmp_path: Path) -> None:
    shuffled = random.Random(7).sample(ARTICLES, len(ARTICLES))
    shards = {"train": 2, "validation": 1, "test": 1}
    for name, articles in (("one", ARTICLES), ("two", shuffled)):
        (tmp_path / name).mkdir()
        write(tmp_path / name, articles, shards)
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "two")


def test_a_shard_without_articles_is_a_file_too(tmp_path: Path) -> None:
    outcome = write(tmp_path, [article(1)], {"train": 2, "validation": 1, "test": 1})
    assert len(outcome.elements["files"]) == 8
    assert sum(file.records for file in outcome.elements["files"]) == 2
    assert pq.read_table(tmp_path / "validation-00000-of-00001.parquet").schema == SCHEMA
    assert (tmp_path / "wiki40b-test.tfrecord-00000-of-00001").read_bytes() == b""


def test_articles_of_one_entity_stand_together_by_page() -> None:
    articles = [
        PackedArticle(page, "A", "1", b"", CorpusStats(), identity)
        for page, identity in ((500, "Q7"), (1, "Q8"), (7, "Q7"))
    ]
    pages = [one.page_id for one in sorted(articles, key=order)]
    assert pages in ([1, 7, 500], [7, 500, 1])


def test_a_shard_of_many_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_corpus, "BATCH", 10)
    write(tmp_path, ARTICLES, {"train": 1, "validation": 1, "test": 1})
    path = tmp_path / "train-00000-of-00001.parquet"
    expected = sorted((one for one in ARTICLES if one.split == "train"), key=by_fingerprint)
    assert pq.ParquetFile(path).metadata.num_row_groups == -(-len(expected) // 10)
    assert pq.read_table(path)["text"].to_pylist() == [unpack_text(one) for one in expected]


@pytest.mark.parametrize(
    ("shard_bytes", "expected"),
    [
        (1, {"train": 90, "validation": 5, "test": 5}),
        (10, {"train": 9, "validation": 1, "test": 1}),
        (11, {"train": 9, "validation": 1, "test": 1}),
        (1000, {"train": 1, "validation": 1, "test": 1}),
    ],
)
def test_the_plan_depends_on_the_bytes_of_all_text(
    shard_bytes: int, expected: dict[str, int]
) -> None:
    texts = ["х" * 20, "山" * 20]  # 40 + 60 bytes
    articles = [pack_article(Article(1, "A", "1", text)) for text in texts]
    assert run_transform(PlanShards(shard_bytes), articles).elements == {"main": [expected]}


def test_of_nothing_there_is_one_shard_of_each_split() -> None:
    outcome = run_transform(PlanShards(100), [])
    assert outcome.elements == {"main": [dict.fromkeys(SPLITS, 1)]}


@pytest.mark.parametrize("shard_bytes", [0, -1])
def test_shards_have_a_size(shard_bytes: int) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        PlanShards(shard_bytes)


@pytest.mark.parametrize("value", [b"bytes", None, 7])
@pytest.mark.parametrize("feature", ["wikidata_id", "version_id"])
def test_a_value_that_is_no_text_is_refused(tmp_path: Path, feature: str, value: object) -> None:
    broken = to_bytes(article(1)._replace(**{feature: value}))  # type: ignore[arg-type]
    with pytest.raises((AttributeError, TypeError, pa.ArrowInvalid)):
        list(write_shard((("train", 0, 1), [broken]), str(tmp_path), "wiki40b"))

import hashlib
import heapq
import random
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.records import Article, PackedArticle
from corpusmill.transforms.files.text import fingerprint
from corpusmill.transforms.models import subword_models
from corpusmill.transforms.wikipedia.article_rows import order, pack_article, to_bytes, unpack_text
from corpusmill.transforms.wikipedia.train_subwords import (
    LARGEST_RANK,
    TrainSubwords,
    last_of_sample,
    train_on,
    train_on_sample,
    write_subwords,
)
from tests.tools.run_pipeline import run_transform


def article(number: int, identity: str = "", split: str = "train") -> PackedArticle:
    text = f"\n_START_ARTICLE_\nСтаття {number}\n_START_PARAGRAPH_\nтекст {number} про річку"
    packed = pack_article(Article(number, f"Стаття {number}", str(number * 10), text))
    return packed._replace(wikidata_id=identity or f"Q{number}", split=split)


TRAIN = [article(number) for number in range(1, 60)]
OTHERS = [article(number, split=split) for number in (90, 91) for split in ("validation", "test")]


def settings(sample_articles: int) -> subword_models.SubwordSettings:
    return subword_models.SubwordSettings(vocabulary_size=320, sample_articles=sample_articles)


def train(articles: list[PackedArticle], sample_articles: int) -> subword_models.TrainedSubwords:
    outcome = run_transform(TrainSubwords(settings(sample_articles)), articles)
    (trained,) = outcome.elements["main"]
    assert isinstance(trained, subword_models.TrainedSubwords)
    counts = {**outcome.counters}
    assert counts.pop("train-subwords/words", 0) >= bool(trained.model)
    assert counts.pop("train-subwords/articles", 0) == trained.sampled_articles
    assert counts == {"train-subwords/begun": trained.sampled_articles}
    return trained


def expected(sample: list[PackedArticle], sample_articles: int) -> subword_models.TrainedSubwords:
    lines = "".join(f"{one.wikidata_id}\t{one.version_id}\n" for one in sample)
    model = subword_models.train_model(map(unpack_text, sample), settings(sample_articles))
    return subword_models.TrainedSubwords(
        model=model,
        vocabulary_size=subword_models.vocabulary_of(model).count("\n"),
        sampled_articles=len(sample),
        sample_sha256=hashlib.sha256(lines.encode()).hexdigest(),
    )


@pytest.mark.parametrize("sample_articles", [1, 20, 58, 59, 60])
def test_the_sample_are_the_first_articles_of_train(sample_articles: int) -> None:
    in_order = sorted(TRAIN, key=lambda one: fingerprint(one.wikidata_id))
    found = train([*OTHERS, *TRAIN], sample_articles)
    assert found == expected(in_order[:sample_articles], sample_articles)


def test_the_order_of_the_articles_does_not_matter() -> None:
    # Articles about one entity share a fingerprint, here that of the last of the sample.
    last = sorted(TRAIN, key=order)[19]
    same = [article(number, last.wikidata_id) for number in (700, 600, 800)]
    articles = [*TRAIN, *OTHERS, *same]
    sample = sorted([*TRAIN, *same], key=order)[:21]
    assert [one.page_id for one in sample[-2:]] == [last.page_id, 600]
    for seed in range(3):
        shuffled = random.Random(seed).sample(articles, len(articles))
        assert train(shuffled, 21) == expected(sample, 21)


@pytest.mark.parametrize("articles", [[], OTHERS])
def test_without_train_there_is_no_model_but_a_reason(articles: list[PackedArticle]) -> None:
    nothing = hashlib.sha256(b"").hexdigest()
    assert train(articles, 5) == subword_models.TrainedSubwords(
        b"", 0, 0, nothing, "there is no text to learn from"
    )


def test_a_model_that_cannot_be_is_a_reason() -> None:
    text = "".join(map(chr, range(0x4E00, 0x4E00 + 500)))
    trained = train_on([("Q1", "7", text)], settings(1), 1)
    assert (trained.model, trained.vocabulary_size, trained.sampled_articles) == (b"", 0, 1)
    assert "Vocabulary size is smaller than required_chars" in trained.reason
    assert trained.summary() == {
        "vocabulary_size": 0,
        "sampled_articles": 1,
        "sample_sha256": hashlib.sha256(b"Q1\t7\n").hexdigest(),
        "reason": trained.reason,
    }


def test_a_damaged_text_is_no_reason_but_an_error() -> None:
    data = to_bytes(article(1)._replace(packed_text=b"damaged"))
    with pytest.raises(zstandard.ZstdError, match="determining content size"):
        train_on_sample((0, [data, b""]), settings(1))


@given(st.lists(st.integers(0, LARGEST_RANK), max_size=30), st.integers(1, 12))
def test_the_last_of_the_sample(ranks: list[int], n: int) -> None:
    in_order = sorted(ranks)
    last = in_order[n - 1] if len(in_order) >= n else LARGEST_RANK
    assert last_of_sample(heapq.nlargest(n, [-rank for rank in ranks]), n) == last


def test_files_of_a_vocabulary(tmp_path: Path) -> None:
    trained = train_on([("Q1", "7", "some text, some more")], settings(1), 1)
    files = {file.name: file for file in write_subwords(trained, str(tmp_path), "uk-32k")}
    model = (tmp_path / "sentencepiece" / "uk-32k.model").read_bytes()
    vocabulary = (tmp_path / "sentencepiece" / "uk-32k.vocab").read_bytes()
    assert model == trained.model
    assert vocabulary.decode() == subword_models.vocabulary_of(model)
    assert files.keys() == {"sentencepiece/uk-32k.model", "sentencepiece/uk-32k.vocab"}
    for file, content in zip(sorted(files.values()), (model, vocabulary), strict=True):
        assert (file.bytes, file.sha256) == (len(content), hashlib.sha256(content).hexdigest())
        assert file.split == ""
    assert [file.format for file in sorted(files.values())] == [
        "sentencepiece-model",
        "sentencepiece-vocabulary",
    ]
    assert files["sentencepiece/uk-32k.model"].records == trained.vocabulary_size > 263


def test_no_model_no_file(tmp_path: Path) -> None:
    assert list(write_subwords(train_on([], settings(1), 0), str(tmp_path), "uk")) == []
    assert list(tmp_path.iterdir()) == []

from pathlib import Path

import apache_beam as beam
import pytest

from corpusmill.transforms.files.builds.finished_builds import open_build
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.models.subword_models import SubwordSettings
from corpusmill.transforms.wikipedia.train_subwords import (
    plan_sample,
    read_sample,
    train_on,
    train_on_builds,
)
from tests.makers.finished_builds import make_build, text_of
from tests.tools.case_tables import read_cases
from tests.tools.run_pipeline import run_pipeline

# In row groups of two.
IDS = {"train": [["Q1", "Q2", "Q3"], [], ["Q4", "Q5"]], "validation": [["Q6"]], "test": [["Q7"]]}


@pytest.mark.parametrize(
    ("articles", "expected"),
    read_cases("wikipedia/train_on_builds", "the_sample_are_the_first_articles_of_train"),
)
def test_the_sample_are_the_first_articles_of_train(
    tmp_path: Path, articles: int, expected: list[list[int]]
) -> None:
    build = open_build(str(make_build(tmp_path, "uk", IDS)))
    sample = plan_sample(build, articles)
    paths = build.files["train"]
    found = [[paths.index(part.file.path), part.number, part.rows] for part in sample]
    assert found == expected
    ids = [f"Q{number}" for number in range(1, min(articles, 5) + 1)]
    assert list(read_sample(sample)) == [(identity, "7", text_of(identity)) for identity in ids]


def test_no_file_behind_the_sample_is_looked_at(tmp_path: Path) -> None:
    folder = make_build(tmp_path, "uk", IDS)
    build = open_build(str(folder))
    (folder / "train-00002-of-00003.parquet").write_bytes(b"damaged")
    assert len(plan_sample(build, 3)) == 2
    with pytest.raises(
        InputError, match=r"train-00002-of-00003\.parquet: not a valid Parquet file"
    ):
        plan_sample(build, 4)


def test_each_vocabulary_is_learned_from_the_whole_sample(tmp_path: Path) -> None:
    uk = open_build(str(make_build(tmp_path, "uk", IDS)))
    el = open_build(str(make_build(tmp_path, "el", {"train": [["Q8"]]})))
    sample = [*plan_sample(el, 2), *plan_sample(uk, 2)]
    vocabularies = {"large": SubwordSettings(300), "small": SubwordSettings(280)}
    outcome = run_pipeline(
        lambda root: {
            "trained": root | beam.Create([vocabularies]) | beam.FlatMap(train_on_builds, sample)
        }
    )
    articles = [(identity, "7", text_of(identity)) for identity in ("Q8", "Q1", "Q2")]
    assert dict(outcome.elements["trained"]) == {
        name: train_on(articles, settings, 3) for name, settings in vocabularies.items()
    }
    counts = {**outcome.counters}
    assert counts.pop("train-subwords/words") % 2 == 0  # two vocabularies of the same words
    assert counts == {"train-subwords/begun": 6, "train-subwords/articles": 6}

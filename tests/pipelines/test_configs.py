"""Settings of all corpora: those that are refused, and the editions that the others name."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from corpusmill.pipelines.pg19 import Pg19
from corpusmill.pipelines.run.corpora import rows
from corpusmill.pipelines.sample_builds import sample_pg19, sample_simplebooks
from corpusmill.pipelines.simplebooks import SimpleBooks
from corpusmill.transforms.files.read_files import InputError
from tests.tools.case_tables import read_rows

LEAST = {
    "wiki40b": {"language": "uk", "dump": ["no such file"], "page_props": ["p"]},
    "entities": {"dump": ["a.json"]},
    "lm1b": {"input": ["news"]},
    "pg19": {"books": ["x.txt"]},
    "simplebooks": {"books": ["x.txt"]},
    "subwords": {"corpora": ["."]},
    "ngrams": {"corpus": "."},
}
"""Corpus → the settings that it must have."""


def config_of(corpus: str, settings: str) -> Any:
    _, config = rows()[corpus].classes()
    return config(**(LEAST.get(corpus, {}) | json.loads(settings)))


@pytest.mark.parametrize(("corpus", "settings", "message"), read_rows("pipelines/refused_settings"))
def test_settings_that_make_no_sense_are_refused(corpus: str, settings: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        config_of(corpus, settings)


@pytest.mark.parametrize(("corpus", "settings", "edition"), read_rows("pipelines/editions"))
def test_a_variant_is_an_edition_of_its_own_however_its_numbers_are_written(
    corpus: str, settings: str, edition: str
) -> None:
    assert config_of(corpus, settings).edition() == edition


@pytest.mark.parametrize("what", ["books", "catalog", "metadata", "mask_words", "split_ids"])
def test_a_file_of_books_that_is_not_there(tmp_path: Path, what: str) -> None:
    missing: dict[str, Any] = {what: [str(tmp_path / "missing.csv")]}
    with pytest.raises(InputError, match=re.escape(*missing[what])):
        Pg19(type(sample_pg19())(**vars(sample_pg19()) | missing))
    if what in ("books", "catalog"):
        config = sample_simplebooks()
        with pytest.raises(InputError, match=re.escape(*missing[what])):
            SimpleBooks(type(config)(**vars(config) | missing))

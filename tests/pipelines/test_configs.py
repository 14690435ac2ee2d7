"""Settings of all corpora: those that are refused, and the editions that the others name."""

import re
from pathlib import Path
from typing import Any

import pytest

from corpusmill.pipelines.entities_settings import EntitiesConfig
from corpusmill.pipelines.flores101_settings import Flores101Config
from corpusmill.pipelines.lm1b_settings import Lm1bConfig
from corpusmill.pipelines.pg19 import Pg19
from corpusmill.pipelines.pg19_settings import Pg19Config
from corpusmill.pipelines.sample_builds import sample_pg19, sample_simplebooks
from corpusmill.pipelines.simplebooks import SimpleBooks
from corpusmill.pipelines.simplebooks_settings import SimpleBooksConfig
from corpusmill.pipelines.subwords_settings import SubwordsConfig
from corpusmill.pipelines.wiki40b_multilingual_settings import MultilingualConfig
from corpusmill.pipelines.wiki40b_settings import Wiki40bConfig
from corpusmill.transforms.files.read_files import InputError

WIKI40B = Wiki40bConfig, {"language": "uk", "dump": ["no such file"], "page_props": ["p"]}
ENTITIES = EntitiesConfig, {"dump": ["a.json"]}
LM1B = Lm1bConfig, {"input": ["news"]}
PG19 = Pg19Config, {"books": ["x.txt"]}
SIMPLEBOOKS = SimpleBooksConfig, {"books": ["x.txt"]}
FLORES101: Any = Flores101Config, {}
MULTILINGUAL = MultilingualConfig, {"corpora": ["x"]}
SUBWORDS = SubwordsConfig, {"corpora": ["."]}


@pytest.mark.parametrize(
    ("corpus", "settings", "message"),
    [
        (
            WIKI40B,
            {"language": "zh"},
            "zhwiki has two corpora, zh-cn and zh-tw: choose one, not 'zh'",
        ),
        (WIKI40B, {"dump": []}, "there must be at least one input file"),
        (WIKI40B, {"on_corrupt": "ignore"}, "on_corrupt must be one of"),
        (WIKI40B, {"near_duplicates": 1}, "near_duplicates must be at least 0 and below 1, not 1"),
        (WIKI40B, {"near_duplicates": -0.1}, "near_duplicates must be at least 0"),
        (WIKI40B, {"shard_bytes": 0}, "shard_bytes must be positive, not 0"),
        (
            WIKI40B,
            {"vocabulary_size": 263},
            "vocabulary_size must be above 263, the number of pieces for markers and bytes, not 263",
        ),
        (WIKI40B, {"sample_articles": 0}, "sample_articles must be positive, not 0"),
        (WIKI40B, {"dump_date": "../x"}, "dump_date must consist of letters, .* got '../x'"),
        (WIKI40B, {"dump_date": "a/b"}, "dump_date must consist of letters, .* got 'a/b'"),
        (ENTITIES, {"dump": []}, "there must be at least one input file"),
        (ENTITIES, {"wikis": ["uk", "zh"]}, "zhwiki has two corpora"),
        (ENTITIES, {"on_corrupt": "ignore"}, "on_corrupt must be one of"),
        (ENTITIES, {"rows_per_file": 0}, "rows_per_file must be positive, not 0"),
        (ENTITIES, {"dump_date": "../x"}, r"dump_date must consist of letters, .* got '\.\./x'"),
        (LM1B, {"input": []}, "there must be at least one input file"),
        (LM1B, {"language": "../en"}, "language"),
        (LM1B, {"perl": "4"}, "perl"),
        (LM1B, {"deduplicate": "never"}, "deduplicate"),
        (LM1B, {"near_duplicates": 1.0}, "near_duplicates"),
        (LM1B, {"near_duplicates": -0.1}, "near_duplicates"),
        (LM1B, {"min_count": 0}, "min_count"),
        (LM1B, {"min_count": 10**20}, "min_count"),
        (LM1B, {"shards": 1}, "shards"),
        (LM1B, {"heldout_shards": 0}, "shards"),
        (LM1B, {"dump_date": "a/b"}, "dump_date"),
        (LM1B, {"dump_date": "-"}, "dump_date"),
        (LM1B, {"checkpoints": True, "deduplicate": "tokenized"}, "checkpoints"),
        (PG19, {"books": []}, "there must be at least one input file"),
        (PG19, {"members": "all"}, "members must be one of"),
        (PG19, {"members": "released"}, "needs metadata"),
        (PG19, {"before": 0}, "before must be positive, not 0"),
        (PG19, {"near_duplicates": 1.5}, "1.5"),
        (PG19, {"shard_bytes": 0}, "shard_bytes must be positive, not 0"),
        (PG19, {"min_words": -1}, "min_words must be 0 or more, not -1"),
        (PG19, {"dump_date": "a/b"}, "dump_date"),
        (PG19, {"on_corrupt": "ignore"}, "on_corrupt"),
        (SIMPLEBOOKS, {"books": []}, "there must be at least one input file"),
        (SIMPLEBOOKS, {"formula": "L"}, "formula"),
        (SIMPLEBOOKS, {"min_ratio": "-1"}, "min_ratio"),
        (SIMPLEBOOKS, {"min_ratio": "much"}, "min_ratio"),
        (SIMPLEBOOKS, {"target_tokens": -5}, "target_tokens"),
        (SIMPLEBOOKS, {"max_vocabulary": 0}, "max_vocabulary"),
        (SIMPLEBOOKS, {"min_count": 0}, "min_count"),
        (SIMPLEBOOKS, {"overlap": "0"}, "threshold"),
        (SIMPLEBOOKS, {"overlap": "1.5"}, "threshold"),
        (SIMPLEBOOKS, {"overlap": "minhash:0"}, "threshold"),
        (SIMPLEBOOKS, {"overlap": "minhashes"}, "a share, minhash or minhash:SHARE"),
        (
            SIMPLEBOOKS,
            {"overlap": "minhash", "estimate": 2},
            "`estimate` cannot be used with `overlap='minhash'`",
        ),
        (SIMPLEBOOKS, {"number_style": "words"}, "number_style"),
        (SIMPLEBOOKS, {"heldout_books": 0}, "heldout_books"),
        (SIMPLEBOOKS, {"small_tokens": 0}, "small_tokens"),
        (SIMPLEBOOKS, {"ngram_words": 0}, "ngram_words"),
        (SIMPLEBOOKS, {"estimate": 0}, "estimate"),
        (SIMPLEBOOKS, {"shard_bytes": 0}, "shard_bytes"),
        (SIMPLEBOOKS, {"min_words": -1}, "min_words"),
        (FLORES101, {}, "there is no input: use at least one of"),
        (FLORES101, {"wikinews": ["a"], "all_wikibooks": True}, "needs a dump of Wikibooks"),
        (FLORES101, {"wikinews": ["a"], "sentences": 0}, "expected at least 1 sentence"),
        (
            FLORES101,
            {"wikinews": ["a"], "sentences": 100, "articles": 99},
            "need 20 to 33 articles",
        ),
        (FLORES101, {"wikinews": ["a"], "on_corrupt": "ignore"}, "on_corrupt must be one of"),
        (
            FLORES101,
            {"documents": ["a.jsonl"]},
            "documents must have the form name=value, got 'a.jsonl'",
        ),
        (
            FLORES101,
            {"documents": ["wikinews=a"]},
            "the set of documents 'wikinews' has the name of a Wikimedia site",
        ),
        (FLORES101, {"documents": ["News=a"]}, "documents 'News' has an invalid name"),
        (
            FLORES101,
            {"documents": ["news="]},
            "documents must have the form name=value, got 'news='",
        ),
        (
            FLORES101,
            {"documents": ["n=a"], "newer_than": ["n=12"]},
            "newer_than of n must be a date",
        ),
        (FLORES101, {"documents": ["n=a"], "newer_than": ["n=2026-02-30"]}, "must be a date like"),
        (
            FLORES101,
            {"documents": ["n=a"], "newer_than": ["m=2026-02-03"]},
            "`newer_than` names the domain 'm', which has neither a dump nor documents",
        ),
        (FLORES101, {"wikinews": ["a"], "newer_than": ["wikinews=1", "wikinews=b"]}, "1 b$"),
        (
            WIKI40B,
            {"newer_than": ["12", "old.xml"]},
            "must be either one page id or the files of an older dump",
        ),
        (
            FLORES101,
            {"wikinews": ["a"], "dump_date": "../x"},
            "dump_date must consist of letters, .* got '../x'",
        ),
        (MULTILINGUAL, {"corpora": []}, "`corpora` is empty: there must be at least one"),
        (MULTILINGUAL, {"vocabulary_sizes": []}, "vocabulary_sizes must have at least one size"),
        (MULTILINGUAL, {"vocabulary_sizes": [400, 400]}, "has a size twice"),
        (MULTILINGUAL, {"vocabulary_sizes": [263]}, "must be above 263"),
        (MULTILINGUAL, {"sample_articles": 0}, "must be positive"),
        (SUBWORDS, {"corpora": []}, "`corpora` is empty: there must be at least one"),
        (SUBWORDS, {"corpora": ["xx=a"]}, 'no language "xx"'),
        (SUBWORDS, {"temperature": "0"}, "temperature must be a positive number, not '0'"),
        (SUBWORDS, {"sentences": 0}, "sentences must be from 1 to .*, not 0"),
        (SUBWORDS, {"dump_date": "a/b"}, "dump_date must consist of letters, .* got 'a/b'"),
        (SUBWORDS, {"size": 3}, "size must be above 3"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    corpus: tuple[Any, dict[str, Any]], settings: dict[str, Any], message: str
) -> None:
    config, given = corpus
    with pytest.raises(ValueError, match=message):
        config(**(given | settings))


@pytest.mark.parametrize(
    ("corpus", "settings", "edition"),
    [
        (SIMPLEBOOKS, {}, "en"),
        (SIMPLEBOOKS, {"min_ratio": "0.002"}, "en-min-ratio-0.002"),
        (SIMPLEBOOKS, {"target_tokens": 92_000_000}, "en-target-tokens-92000000"),
        (SIMPLEBOOKS, {"formula": "L/sqrt(V)", "estimate": 8}, "en-formula-L-sqrtV-estimate-8"),
        (SIMPLEBOOKS, {"number_style": "comma", "shard_bytes": 7}, "en-number-style-comma"),
        (SIMPLEBOOKS, {"overlap": ".50", "min_ratio": "24/100"}, "en"),
        (SIMPLEBOOKS, {"overlap": "1/3"}, "en-overlap-0.3333333333333333"),
        (SIMPLEBOOKS, {"overlap": "minhash"}, "en-overlap-minhash-0.5"),
        (SIMPLEBOOKS, {"overlap": "minhash:1/4"}, "en-overlap-minhash-0.25"),
        (SIMPLEBOOKS, {"overlap": "0.333333"}, "en-overlap-0.333333"),
        (SIMPLEBOOKS, {"min_ratio": "0.00123456789"}, "en-min-ratio-0.00123456789"),
        (WIKI40B, {"newer_than": ["8123"]}, "uk-newer-than-page-8123"),
        (WIKI40B, {"newer_than": ["gs://a/ukwiki-20230501-*.bz2"]}, "uk-newer-than-20230501"),
        (WIKI40B, {"newer_than": ["ukwiki-2023-05-01-p1p9.xml"]}, "uk-newer-than-20230501"),
        (
            WIKI40B,
            {"newer_than": ["old.xml"], "near_duplicates": 0.8},
            "uk-near-duplicates-0.8-newer-than-undated",
        ),
        (LM1B, {}, "en"),
        (LM1B, {"language": "cs"}, "cs"),
        (LM1B, {"near_duplicates": 0.8, "lower_case": True}, "en-near-duplicates-0.8-lower-case"),
        (
            LM1B,
            {"deduplicate": "tokenized", "map_unknown": True},
            "en-deduplicate-tokenized-map-unknown",
        ),
        (LM1B, {"checkpoints": True}, "en"),
    ],
)
def test_a_variant_is_an_edition_of_its_own_however_its_numbers_are_written(
    corpus: tuple[Any, dict[str, Any]], settings: dict[str, Any], edition: str
) -> None:
    config, given = corpus
    assert config(**(given | settings)).edition() == edition


@pytest.mark.parametrize("what", ["books", "catalog", "metadata", "mask_words", "split_ids"])
def test_a_file_of_books_that_is_not_there(tmp_path: Path, what: str) -> None:
    missing = {what: [str(tmp_path / "missing.csv")]}
    with pytest.raises(InputError, match=re.escape(*missing[what])):
        Pg19(Pg19Config(**vars(sample_pg19()) | missing))
    if what in ("books", "catalog"):
        with pytest.raises(InputError, match=re.escape(*missing[what])):
            SimpleBooks(SimpleBooksConfig(**vars(sample_simplebooks()) | missing))

"""Source sentences for a translation benchmark, drawn from the bundled samples of three sites."""

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from corpusmill.pipelines.cli import main
from corpusmill.pipelines.flores101 import Flores101
from corpusmill.pipelines.flores101_settings import PAPER_DOMAINS, VERSION, Flores101Config
from corpusmill.pipelines.run.launch import launch
from corpusmill.pipelines.sample_builds import sample_flores101
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import SPLITS, SourceSentence
from corpusmill.transforms.translation.find_passages import SCHEMA
from corpusmill.transforms.translation.source_table import read_source
from tests.makers import dump_files
from tests.makers.wiki_builds import Build, outputs_below
from tests.tools.pack_samples import SAMPLES, load_wiki

EDITION = "en-sentences-150-articles-42"


class SourceBuild(Build):
    """A finished build of source sentences."""

    @property
    def sentences(self) -> list[SourceSentence]:
        return read_source((self.folder / "source.tsv").read_text("utf-8"))


@pytest.fixture(scope="module")
def sample(demo: Path) -> SourceBuild:
    return SourceBuild(demo / "flores101" / EDITION / f"20260101-{VERSION}")


def build(output: Path, config: Flores101Config, workers: int = 1) -> SourceBuild:
    corpus = Flores101(config)
    launch(corpus, str(output), workers=workers)
    return SourceBuild(output.joinpath(*corpus.path))


def expected_fates() -> dict[str, str]:
    """Domain and page id → what its author says of the page."""
    return {
        f"{domain}:{page_id}": fate
        for domain in PAPER_DOMAINS
        for page_id, fate in load_wiki(SAMPLES / "wikimedia" / f"en{domain}").expected.items()
    }


def test_every_page_is_kept_or_rejected_as_its_author_says(sample: SourceBuild) -> None:
    rejected = {one.id: one.reason for one in sample.rejected()}
    assert len(rejected) == len(sample.rejected())
    assert rejected == {page: fate for page, fate in expected_fates().items() if fate != "kept"}
    assert {one.article for one in sample.sentences} <= expected_fates().keys() - rejected.keys()


def test_numbers_add_up(sample: SourceBuild) -> None:
    stats, counts = sample.stats, sample.manifest["counts"]
    fates = Counter(page.partition(":")[0] for page in expected_fates())
    for domain, account in stats["domains"].items():
        assert account["pages"] == fates[domain]
        assert account["pages"] == sum(
            account[what] for what in ("rejected", "not_drawn", "articles")
        )
        of_domain = [one for one in sample.sentences if one.domain == domain]
        assert account["sentences"] == len(of_domain) == 50
        assert account["articles"] == len({one.article for one in of_domain}) == 14
    assert stats["total"]["sentences"] == 150 == sum(stats[split]["sentences"] for split in SPLITS)
    assert stats["total"]["articles"] == 42 == sum(stats["articles_by_sentences"].values())
    assert [stats[split]["sentences"] for split in SPLITS] == [50, 50, 50]
    assert sum(stats["topics"].values()) == 150
    assert counts["pages_read"] == len(expected_fates())
    assert counts["rejected"]["total"] == len(sample.rejected())
    assert counts["pages_read"] == counts["rejected"]["total"] + counts["not_drawn"] + 42
    assert stats["shortages"] == []
    sample.check_files()
    card = (sample.folder / "README.md").read_text("utf-8")
    assert "| total | 150 | 42 |" in card
    assert f"| total | {counts['pages_read']} |" in card


def test_whole_articles_of_3_to_5_sentences_are_in_one_split(sample: SourceBuild) -> None:
    by_article: dict[str, list[SourceSentence]] = {}
    for one in sample.sentences:
        by_article.setdefault(one.article, []).append(one)
    for sentences in by_article.values():
        assert 3 <= len(sentences) <= 5
        assert len({(one.split, one.url, one.topic, one.has_image) for one in sentences}) == 1
        places = [int(one.id.rpartition("-")[2]) for one in sentences]
        assert places == list(range(places[0], places[0] + len(places)))
    assert [one.id for one in sample.sentences] == [
        f"{split}-{place:04}" for split in SPLITS for place in range(1, 51)
    ]
    assert len({one.text for one in sample.sentences}) == 150


def test_the_tables_hold_the_same(sample: SourceBuild) -> None:
    rows = [
        row
        for split in SPLITS
        for row in pq.read_table(sample.folder / f"{split}-00000-of-00001.parquet").to_pylist()
    ]
    without_licences = [dict(zip(SCHEMA.names, one, strict=False)) for one in sample.sentences]
    assert rows == without_licences
    assert {one.licence for one in sample.sentences} == {""}


def _shuffled(folder: Path, generator: random.Random) -> dict[str, Sequence[str]]:
    """The samples in another order, in several files, packed otherwise."""
    paths: dict[str, Sequence[str]] = {}
    for domain in PAPER_DOMAINS:
        wiki = load_wiki(SAMPLES / "wikimedia" / f"en{domain}")
        pages = list(wiki.pages)
        generator.shuffle(pages)
        parts = [
            folder / f"en{domain}-20260101-{part}.xml{end}" for part, end in ((1, ".gz"), (2, ""))
        ]
        for part, path in enumerate(parts):
            dump_files.write_xml(path, wiki.header, pages[part::2])
        paths[domain] = [str(path) for path in parts]
    return paths


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_neither_order_nor_packing_nor_workers_decide(
    sample: SourceBuild, tmp_path: Path, workers: int
) -> None:
    dumps: dict[str, Any] = dict(_shuffled(tmp_path, random.Random(workers)))
    found = build(tmp_path / "out", Flores101Config(**dumps, sentences=150), workers)
    assert found.tree_but_inputs() == sample.tree_but_inputs()


def test_other_books_are_taken_where_they_are_asked_for(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"wikibooks": sample_flores101().wikibooks, "all_wikibooks": True}
    found = build(tmp_path, Flores101Config(**settings))
    assert "other-book" not in {one.reason for one in found.rejected()}
    assert "Bicycle Care/Punctures" in {
        one.url.partition("/wiki/")[2].replace("_", " ") for one in found.sentences
    }


@pytest.mark.slow
def test_another_seed_draws_others(sample: SourceBuild, tmp_path: Path) -> None:
    given = sample_flores101()
    dumps: dict[str, Any] = dict(given.dumps())
    other = build(tmp_path, Flores101Config(**dumps, sentences=150, seed=7))
    first, second = ({one.text for one in found.sentences} for found in (sample, other))
    assert len(second) == 150
    assert len(first & second) < 75
    assert other.folder.parts[-2] == f"{EDITION}-seed-7"


def test_too_small_dumps_give_what_they_have_and_say_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dumps: dict[str, Any] = dict(sample_flores101().dumps())
    found = build(tmp_path, Flores101Config(**dumps))
    kept = Counter(
        page.partition(":")[0] for page, fate in expected_fates().items() if fate == "kept"
    )
    printed = capsys.readouterr().out
    for domain, shortage in zip(PAPER_DOMAINS, found.stats["shortages"], strict=True):
        account = found.stats["domains"][domain]
        assert account["articles"] == kept[domain]
        assert account["not_drawn"] == 0
        assert shortage.startswith(f"{domain}: {kept[domain]} of 28")
        assert f"{account['sentences']} of 1,00" in shortage
        assert f"Fewer than asked for: {shortage}." in found.manifest["caveats"]
        assert f"note: Fewer than asked for: {shortage}." in printed
    sizes = [found.stats[split]["sentences"] for split in SPLITS]
    assert max(sizes) - min(sizes) <= 10


def test_topics_can_be_put_right_in_a_copy_of_the_table(
    sample: SourceBuild, tmp_path: Path
) -> None:
    changed = sample.sentences[0]
    topics = tmp_path / "source.tsv"
    topics.write_text(f"url\ttopic\n{changed.url}\tcrime\n", "utf-8")
    assert changed.topic != "crime"
    dumps: dict[str, Any] = dict(sample_flores101().dumps())
    found = build(tmp_path, Flores101Config(**dumps, sentences=150, topics=[str(topics)]))
    for before, after in zip(sample.sentences, found.sentences, strict=True):
        is_changed = before.article == changed.article
        assert after == (before._replace(topic="crime") if is_changed else before)
    assert {file["role"] for file in found.manifest["inputs"]} == {*PAPER_DOMAINS, "topics"}


def test_a_dump_of_another_site_is_named() -> None:
    wikinews = sample_flores101().wikinews
    with pytest.raises(
        InputError, match="a dump of enwikinews, not of enwikivoyage; did you mean --wikinews"
    ):
        Flores101(Flores101Config(wikivoyage=wikinews))


@pytest.mark.slow
def test_a_dump_without_articles_is_an_error_and_leaves_no_build(tmp_path: Path) -> None:
    wiki = load_wiki(SAMPLES / "wikimedia" / "enwikinews")
    pages = [page for page in wiki.pages if wiki.expected[page.page_id] != "kept"]
    dump = tmp_path / "enwikinews-20260101.xml"
    dump_files.write_xml(dump, wiki.header, pages)
    assert (
        main(["flores101", "source", "--wikinews", str(dump), "--output", str(tmp_path / "out")])
        == 1
    )
    assert outputs_below(tmp_path / "out") == []

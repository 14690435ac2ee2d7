"""Source sentences of real pages: two articles of Wikivoyage and the head of English Wikipedia."""

import bz2
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from corpusmill.pipelines.flores101_settings import Flores101Config
from tests.makers import dump_files
from tests.makers.dump_files import SamplePage
from tests.pipelines.test_flores101 import SourceBuild, build
from tests.tools.pack_samples import SAMPLES, load_wiki
from tests.tools.real_data import DATA, needs_real_data

pytestmark = needs_real_data

ENWIKI = "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
ARTICLES = {"Boston": "Boston.wikitext", "Tokyo/Roppongi": "sample-article-en.wikicode"}
DEBRIS = re.compile(
    r"\[(?!\w+\])|(?<!\w)\]|[{}|<>*#=]|''|https?:|\s\s|[\ue000-\uf8ff]|&\w+;|\(\s*\)|\s[,;.]|^\W*[a-z]"
)


def write_wikivoyage(folder: Path) -> str:
    """A dump of the two articles: the pages are real, the dump around them is ours."""
    source = DATA / "wikimedia" / "enwikivoyage"
    pages = [
        SamplePage(
            page_id=number,
            namespace=0,
            title=title,
            wikitext=(source / name).read_text("utf-8").rstrip("\n"),
            revision_id=number,
            timestamp="2020-01-01T00:00:00Z",
            contributor="A writer",
        )
        for number, (title, name) in enumerate(ARTICLES.items(), 1)
    ]
    path = folder / "enwikivoyage-20200101-pages-articles.xml.bz2"
    dump_files.write_xml(path, load_wiki(SAMPLES / "wikimedia" / "enwikivoyage").header, pages)
    return str(path)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> SourceBuild:
    folder = tmp_path_factory.mktemp("real")
    return build(folder, config_of(folder, str(DATA / "wikipedia" / ENWIKI)))


def config_of(folder: Path, enwiki: str) -> Flores101Config:
    dumps: dict[str, Any] = {"wikivoyage": [write_wikivoyage(folder)], "wikipedia": [enwiki]}
    return Flores101Config(**dumps, sentences=1000, dump_date="real")


def test_all_that_can_be_is_taken(real: SourceBuild) -> None:
    accounts = real.stats["domains"]
    assert accounts["wikivoyage"] == {
        "pages": 2,
        "rejected": 0,
        "not_drawn": 0,
        "articles": 2,
        "sentences": accounts["wikivoyage"]["sentences"],
    }
    assert accounts["wikipedia"]["pages"] == 206
    assert accounts["wikipedia"]["not_drawn"] == 0
    assert accounts["wikipedia"]["articles"] >= 90
    reasons = Counter(one.reason for one in real.rejected())
    assert reasons["redirect"] == 99
    assert len(real.rejected()) + real.stats["total"]["articles"] == 208
    shortages = [line.partition(":")[0] for line in real.stats["shortages"]]
    assert shortages == ["wikivoyage", "wikipedia"]


def test_no_sentence_is_broken(real: SourceBuild) -> None:
    assert len(real.sentences) > 300
    for one in real.sentences:
        assert not DEBRIS.search(one.text), one.text
        assert one.text[-1] in ".!?\"”'’)", one.text
        assert 4 <= len(one.text.split()) <= 80, one.text


def test_links_and_images_are_those_of_the_pages(real: SourceBuild) -> None:
    linked = [one.has_hyperlink for one in real.sentences]
    assert (
        0.3 < sum(linked) / len(linked) < 0.8
    )  # an encyclopedia links more than the 40 % of the paper
    boston = [one for one in real.sentences if one.url == "https://en.wikivoyage.org/wiki/Boston"]
    assert 3 <= len(boston) <= 5
    assert all(one.has_image and one.topic == "travel" for one in boston)


def test_neither_order_nor_workers_decide(real: SourceBuild, tmp_path: Path) -> None:
    with bz2.open(DATA / "wikipedia" / ENWIKI) as stream:
        header, *pages = re.split(rb"(?=  <page>\n)", stream.read())
    pages[-1] = pages[-1].partition(b"</mediawiki>")[0]
    random.Random(2).shuffle(pages)
    dump = tmp_path / "enwiki-shuffled.xml"
    dump.write_bytes(header + b"".join(pages) + b"</mediawiki>\n")
    found = build(tmp_path, config_of(tmp_path, str(dump)), 2)
    assert found.tree_but_inputs() == real.tree_but_inputs()

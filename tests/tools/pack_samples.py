"""Packs the readable sources in pipelines/samples into the files beside them that builds read.

python -m tests.tools.pack_samples            write them
python -m tests.tools.pack_samples --check    say which are stale, exit 1 if any is
"""

import argparse
import bz2
import gzip
import io
import lzma
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.makers import book_files, book_samples, dump_files, news_lines
from tests.makers.dump_files import SamplePage

SAMPLES = Path(__file__).parents[2] / "pipelines" / "samples"
DUMP_DATE = "20260101"
NEWS_ARCHIVE = "training-monolingual.tgz"
_PAGES_PER_STREAM = 10  # a miniature dump, too, shall have several streams
_NEWS_PACKINGS: dict[int, tuple[str, Callable[[bytes], bytes]]] = {  # every packing that is read
    2007: (".gz", lambda text: gzip.compress(text, mtime=0)),
    2008: (".bz2", bz2.compress),
    2009: (".xz", lzma.compress),
    2010: ("", bytes),
}
_UNPACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".tgz": gzip.decompress,
    ".xz": lzma.decompress,
    ".zip": lambda packed: repr(book_files.zip_members(packed)).encode(),
}


class Wiki(NamedTuple):
    """One miniature wiki as its sources describe it."""

    dbname: str
    language: str
    header: str
    pages: tuple[SamplePage, ...]
    page_props: tuple[tuple[int, str, str], ...]  # page id, property, value
    expected: dict[int, str]  # page id → "kept" or why it is not


def wiki_folders(samples: Path = SAMPLES) -> list[Path]:
    """The Wikipedias."""
    return sorted(table.parent for table in samples.glob("wikipedia/*/pages.toml"))


def site_folders(samples: Path = SAMPLES) -> list[Path]:
    """The wikis beside the Wikipedias: Wikinews, Wikibooks, Wikivoyage."""
    return sorted(table.parent for table in samples.glob("wikimedia/*/pages.toml"))


def load_wiki(folder: Path) -> Wiki:
    """Reads `pages.toml` and the wikitext files that it names by page id."""
    table = tomllib.loads((folder / "pages.toml").read_text(encoding="utf-8"))
    site, rows = table["wiki"], table["page"]
    namespaces = {int(number): name for number, name in site["namespaces"].items()}
    header = dump_files.dump_header(
        folder.name, site["language"], site["sitename"], namespaces, site["export_version"]
    )
    if (project := folder.name.removeprefix(site["language"])) != "wiki":  # "enwikinews"
        header = header.replace(".wikipedia.org/", f".{project}.org/")
    files = {int(path.name.split(" ", 1)[0]): path for path in folder.glob("pages/*.wikitext")}
    if files.keys() != {row["id"] for row in rows}:
        raise ValueError(f"{folder}: pages.toml and pages/ do not list the same page ids")
    return Wiki(
        folder.name,
        site["language"],
        header,
        tuple(_sample_page(row, files[row["id"]]) for row in rows),
        tuple(_page_props(rows)),
        {row["id"]: row["expected"] for row in rows},
    )


def _sample_page(row: dict[str, Any], path: Path) -> SamplePage:
    return SamplePage(
        page_id=row["id"],
        namespace=row.get("namespace", 0),
        title=row["title"],
        wikitext=path.read_text(encoding="utf-8").rstrip("\n"),  # MediaWiki trims what it saves
        revision_id=row["revision"],
        timestamp=row["timestamp"],
        redirect_to=row.get("redirect_to", ""),
        deleted=row.get("deleted", False),
        model=row.get("model", "wikitext"),
        contributor=row["contributor"],
        comment=None if row.get("comment_deleted") else row.get("comment", ""),
        minor=row.get("minor", False),
    )


def _page_props(rows: list[dict[str, Any]]) -> Iterator[tuple[int, str, str]]:
    for row in rows:
        properties = dict(row.get("properties", {}))
        if "wikidata_id" in row:
            properties["wikibase_item"] = row["wikidata_id"]
        for name, value in sorted(properties.items()):
            yield row["id"], name, value


def load_entities(samples: Path, wikis: list[Wiki]) -> list[dict[str, Any]]:
    """Reads `entities.toml`; labels in the wikis' languages and sitelinks come from the pages."""
    table = tomllib.loads((samples / "wikidata/entities.toml").read_text(encoding="utf-8"))
    return [_entity(row, wikis) for row in table["item"]]


def _entity(row: dict[str, Any], wikis: list[Wiki]) -> dict[str, Any]:
    qid = row["id"]
    labels, sitelinks = {"en": row["label"]}, dict(row.get("other_sites", {}))
    for wiki in wikis:
        titles = {page.page_id: page.title for page in wiki.pages}
        for page_id, name, value in wiki.page_props:
            if (name, value) == ("wikibase_item", qid):
                labels.setdefault(wiki.language, titles[page_id])
                sitelinks[wiki.dbname] = titles[page_id]
    deprecated = row.get("deprecated", [])
    claims = {"P31": [*row.get("instance_of", []), *deprecated], "P279": row.get("subclass_of", [])}
    claims = {name: values for name, values in claims.items() if values}
    entity = dump_files.wikidata_item(qid, labels, claims, sitelinks, row.get("badges"), deprecated)
    return entity | {"type": row.get("type", "item")}


def pack_samples(output: Path, samples: Path = SAMPLES) -> list[Path]:
    """Writes every packed file under `output`; returns their paths relative to it."""
    wikis = [load_wiki(folder) for folder in wiki_folders(samples)]
    for wiki in wikis:
        folder = output / "wikipedia" / wiki.dbname
        _pack_pages(folder, wiki)
        props_path = folder / f"{wiki.dbname}-{DUMP_DATE}-page_props.sql.gz"
        dump_files.write_page_props(props_path, wiki.page_props, wiki.dbname)
    for sources in site_folders(samples):
        _pack_pages(output / "wikimedia" / sources.name, load_wiki(sources))
    folder = output / "wikidata"
    folder.mkdir(parents=True, exist_ok=True)
    entities_path = folder / f"wikidata-{DUMP_DATE}-all.json.gz"
    dump_files.write_entities(entities_path, load_entities(samples, wikis))
    pack_news(output / "news", samples / "news")
    pack_books(output / "gutenberg", samples / "gutenberg")
    return _packed_files(output)


def _pack_pages(folder: Path, wiki: Wiki) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{wiki.dbname}-{DUMP_DATE}-pages-articles-multistream"
    dump_files.write_multistream(
        folder / f"{stem}.xml.bz2",
        folder / f"{stem}-index.txt.bz2",
        wiki.header,
        wiki.pages,
        _PAGES_PER_STREAM,
    )


def pack_news(folder: Path, sources: Path) -> None:
    """Writes the news of each year, the last in an archive as WMT's that holds another language too."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {year: _text(lines) for year, lines in news_lines.sample_lines(sources).items()}
    for year, (suffix, pack) in _NEWS_PACKINGS.items():
        (folder / f"news.{year}.en.shuffled{suffix}").write_bytes(pack(texts.pop(year)))
    german = news_lines.read_clauses(sources)["german"]["sentences"]
    members = {f"news.{year}.en.shuffled": text for year, text in texts.items()}
    members["news.2011.de.shuffled"] = _text(line.encode() for line in german)
    (folder / NEWS_ARCHIVE).write_bytes(_archive("training-monolingual", members))


def pack_books(folder: Path, sources: Path) -> None:
    """Writes the miniature Project Gutenberg: its library, catalogues and released metadata."""
    for name, contents in book_samples.pack_library(sources).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents)


def _text(lines: Iterable[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def _archive(folder: str, members: Mapping[str, bytes]) -> bytes:
    """A .tgz that says nothing of when and by whom it was made."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, text in sorted(members.items()):
            member = tarfile.TarInfo(f"{folder}/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    return gzip.compress(packed.getvalue(), mtime=0)


def _packed_files(folder: Path) -> list[Path]:
    patterns = (
        "wiki*/**/*-20*.bz2",
        "wiki*/**/*-20*.gz",
        "news/news.20*",
        "news/*.tgz",
        "gutenberg/*.csv",
        "gutenberg/*.bz2",
        "gutenberg/library/**/*",
    )
    found = (path for pattern in patterns for path in folder.glob(pattern) if path.is_file())
    return sorted(path.relative_to(folder) for path in found)


def stale_files(samples: Path = SAMPLES) -> list[Path]:
    """The packed files that differ from what the sources give, or lack a source."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        packed = pack_samples(fresh, samples)
        there = set(_packed_files(samples))
        return sorted(
            path
            for path in there.union(packed)
            if path not in there or path not in packed or _differ(samples / path, fresh / path)
        )


def _differ(path: Path, other: Path) -> bool:
    """Compares bytes; of all but bz2 those that are packed: builds of the libraries compress differently."""
    left, right = path.read_bytes(), other.read_bytes()
    unpack = _UNPACK.get(path.suffix, bytes)
    return unpack(left) != unpack(right)


def main() -> int:
    parser = argparse.ArgumentParser(description="Pack the samples as the real inputs are.")
    parser.add_argument("--check", action="store_true", help="only say which files are stale")
    if not parser.parse_args().check:
        for path in pack_samples(SAMPLES):
            print(f"{(SAMPLES / path).stat().st_size:9,d}  {path}")
        return 0
    stale = stale_files()
    for path in stale:
        print(f"stale: {path}", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())

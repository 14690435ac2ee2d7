"""Packs the readable sources in pipelines/samples into the dump files beside them.

python -m tests.pack_samples            write them
python -m tests.pack_samples --check    say which are stale, exit 1 if any is
"""

import argparse
import gzip
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests import dump_files
from tests.dump_files import SamplePage

SAMPLES = Path(__file__).parent.parent / "pipelines" / "samples"
DUMP_DATE = "20260101"
_PAGES_PER_STREAM = 10  # a miniature dump, too, shall have several streams


class Wiki(NamedTuple):
    """One miniature wiki as its sources describe it."""

    dbname: str
    language: str
    header: str
    pages: tuple[SamplePage, ...]
    page_props: tuple[tuple[int, str, str], ...]  # page id, property, value
    expected: dict[int, str]  # page id → "kept" or why it is not


def wiki_folders(samples: Path = SAMPLES) -> list[Path]:
    return sorted(table.parent for table in samples.glob("wikipedia/*/pages.toml"))


def load_wiki(folder: Path) -> Wiki:
    """Reads `pages.toml` and the wikitext files that it names by page id."""
    table = tomllib.loads((folder / "pages.toml").read_text(encoding="utf-8"))
    site, rows = table["wiki"], table["page"]
    namespaces = {int(number): name for number, name in site["namespaces"].items()}
    header = dump_files.dump_header(
        folder.name, site["language"], site["sitename"], namespaces, site["export_version"]
    )
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
    """Writes every dump file under `output`; returns their paths relative to it."""
    wikis = [load_wiki(folder) for folder in wiki_folders(samples)]
    for wiki in wikis:
        folder = output / "wikipedia" / wiki.dbname
        folder.mkdir(parents=True, exist_ok=True)
        stem = f"{wiki.dbname}-{DUMP_DATE}"
        dump_files.write_multistream(
            folder / f"{stem}-pages-articles-multistream.xml.bz2",
            folder / f"{stem}-pages-articles-multistream-index.txt.bz2",
            wiki.header,
            wiki.pages,
            _PAGES_PER_STREAM,
        )
        props_path = folder / f"{stem}-page_props.sql.gz"
        dump_files.write_page_props(props_path, wiki.page_props, wiki.dbname)
    folder = output / "wikidata"
    folder.mkdir(parents=True, exist_ok=True)
    entities_path = folder / f"wikidata-{DUMP_DATE}-all.json.gz"
    dump_files.write_entities(entities_path, load_entities(samples, wikis))
    packed = (path for pattern in ("*.bz2", "*.gz") for path in output.rglob(pattern))
    return sorted(path.relative_to(output) for path in packed)


def stale_files(samples: Path = SAMPLES) -> list[Path]:
    """The dump files that differ from what the sources give, or lack a source."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        packed = pack_samples(fresh, samples)
        there = {path.relative_to(samples) for path in samples.rglob("*-20*.[bg]z*")}
        return sorted(
            path
            for path in there.union(packed)
            if path not in there or path not in packed or _differ(samples / path, fresh / path)
        )


def _differ(path: Path, other: Path) -> bool:
    """Compares bytes; gzip files by what they hold, for zlib builds compress differently."""
    left, right = path.read_bytes(), other.read_bytes()
    if path.suffix == ".gz":
        left, right = gzip.decompress(left), gzip.decompress(right)
    return left != right


def main() -> int:
    parser = argparse.ArgumentParser(description="Pack the sample wikis into dump files.")
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

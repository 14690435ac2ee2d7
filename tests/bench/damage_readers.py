"""Reads each kind of file as corpusmill does, up to the last step that a damaged record could break.

A reader does the same as a build or a command, but in this process and without a pipeline. It returns the
results by kind: "records", "rejected", "lost", "faults" (as listed by `verify`).
"""

import functools
import io
import json
import pathlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any, cast

import requests
from apache_beam.pvalue import TaggedOutput

from corpusmill.pipelines.inspect import compare
from corpusmill.pipelines.inspect.build_sizes import find_sizes
from corpusmill.pipelines.inspect.report import RENDERERS
from corpusmill.pipelines.inspect.score import score
from corpusmill.pipelines.inspect.verify import _faults_of, compare_with_list
from corpusmill.pipelines.refresh import config, sources
from corpusmill.pipelines.refresh.part_files import DiskPart
from corpusmill.pipelines.refresh.sites import find_offers
from corpusmill.pipelines.refresh.state import StateFolder
from corpusmill.pipelines.run.corpora import layouts, shapes
from corpusmill.pipelines.run.editions import read_current
from corpusmill.pipelines.run.run_stages import DamagedStageError, stage_folders
from corpusmill.pipelines.subwords import find_sources
from corpusmill.pipelines.translation import imports, reviews
from corpusmill.pipelines.translation.checks import open_errors
from corpusmill.pipelines.translation.journal import read_entries
from corpusmill.pipelines.translation.language_state import LanguageState, read_waivers
from corpusmill.pipelines.translation.project import find_source, open_project
from corpusmill.pipelines.translation.run_checks import check_translations
from corpusmill.pipelines.translation.score_translations import score_translations
from corpusmill.pipelines.translation.send_packets import plan_packet
from corpusmill.pipelines.translation.status import find_status, render_text
from corpusmill.pipelines.translation.target_languages import find_language
from corpusmill.transforms.books import read_books, screen_books
from corpusmill.transforms.books import read_catalog as catalog
from corpusmill.transforms.books.gather_books import check_books, join_book
from corpusmill.transforms.files import read_lines, stage_files
from corpusmill.transforms.files.builds import finished_builds
from corpusmill.transforms.files.builds.check_builds import find_fault, list_files
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import BookFile, Page
from corpusmill.transforms.files.scratch import Scratch
from corpusmill.transforms.files.text_kinds import check_lines
from corpusmill.transforms.files.work_units import BLOCK_BYTES
from corpusmill.transforms.models import read_sentences
from corpusmill.transforms.news.punctuation import CURRENT_PERL
from corpusmill.transforms.news.sort_lines import tokenize_block
from corpusmill.transforms.translation.find_passages import _Find, read_topics
from corpusmill.transforms.wikipedia import join_wikidata, make_entity_table, read_dumps, split_pins
from corpusmill.transforms.wikipedia import read_entity_table as entity_table
from corpusmill.transforms.wikipedia.clean_wikitext import _Clean, _ReadPage, read_language
from corpusmill.transforms.wikipedia.find_dumps import find_dumps
from corpusmill.transforms.wikipedia.read_dumps import read_file as read_sql
from corpusmill.transforms.wikipedia.screening import PageFacts, PageScreening
from corpusmill.transforms.wikipedia.sites import load_site
from corpusmill.transforms.wikitext.language import load_language
from corpusmill.transforms.wikitext.templates.definitions import NO_TEMPLATES

Counts = Counter[str]
Reader = Callable[[pathlib.Path, str, str], Counts]
"""Function of (folder of the sample, name of its main file, on_corrupt) that returns the results."""

WORKERS = 2


def _count(outputs: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """(name of the output, element) of what a DoFn gives."""
    for element in outputs or ():
        if isinstance(element, TaggedOutput):
            yield element.tag, element.value
        else:
            yield "records", element


def read_dump(folder: pathlib.Path, name: str, on_corrupt: str) -> Counts:
    """As wiki40b: looks at head and end, reads templates and pages, screens and cleans these."""
    path, code = str(folder / name), name[:2]
    head = read_dumps.check_dumps([path], code, f"{code}wiki", whole=on_corrupt == "fail")
    templates, cleaner = _cleaners(code, tuple(sorted(head.namespaces.items())))
    screening = PageScreening(load_language(code), True)

    def follow(page: Page) -> Iterator[str]:
        yield from ("templates" for _ in templates.process(page))
        if screening.reason_to_reject(page):
            yield "screened"
        else:
            yield from (
                f"cleaned/{output}" for output, _ in _count(cleaner.process(page, NO_TEMPLATES))
            )

    return _read_pages(path, on_corrupt, follow)


def _read_pages(path: str, on_corrupt: str, follow: Callable[[Page], Iterable[str]]) -> Counts:
    found = Counts()
    for unit in read_dumps.plan_units(path, WORKERS):
        for kind, page in _count(read_dumps._read_pages(unit, on_corrupt)):
            found[kind] += 1
            found.update(follow(page) if kind == "records" else ())
    return found


@functools.lru_cache(maxsize=64)
def _cleaners(
    code: str, namespaces: tuple[tuple[int, tuple[str, ...]], ...]
) -> tuple[_ReadPage, _Clean]:
    language = load_language(code)
    templates = _ReadPage(language, dict(namespaces), learns_headings=True)
    cleaner = _Clean(language, dict(namespaces), min_words=0)
    templates.setup()
    templates.start_bundle()
    cleaner.setup()
    return templates, cleaner


def read_sister_dump(folder: pathlib.Path, name: str, on_corrupt: str) -> Counts:
    """As flores101: finds a passage in each page."""
    path = str(folder / name)
    dbname = name.partition("-")[0]
    head = read_dumps.check_dumps([path], "en", dbname, whole=on_corrupt == "fail")
    site, finder = _finder(dbname.removeprefix("en"), tuple(sorted(head.namespaces.items())))

    def follow(page: Page) -> Iterable[str]:
        outputs = () if site.reason_to_reject(page) else _count(finder.process(page))
        return (f"passages/{output}" for output, _ in outputs)

    return _read_pages(path, on_corrupt, follow)


@functools.lru_cache(maxsize=64)
def _finder(name: str, namespaces: tuple[tuple[int, tuple[str, ...]], ...]) -> tuple[Any, _Find]:
    site = load_site(name)
    finder = _Find(site, dict(namespaces), 0, "")
    finder.setup()
    return site, finder


_SQL_TABLES: Mapping[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "page_props": (("pp_page", "pp_propname", "pp_value"), join_wikidata.fact_of_property),
    "page": (("page_id",), join_wikidata.fact_of_existence),
    "wb_items_per_site": (
        ("ips_item_id", "ips_site_id", "ips_site_page"),
        functools.partial(join_wikidata.title_and_item, dbname="ukwiki"),
    ),
}


def read_sql_table(folder: pathlib.Path, name: str, on_corrupt: str) -> Counts:
    """As the join of pages and items."""
    table = name.partition(".sql")[0].rpartition("-")[2]
    read = read_sql(str(folder / name), table, *_SQL_TABLES[table], on_corrupt)
    return Counts(kind for kind, _ in _count(read))


def read_entity_dump(folder: pathlib.Path, name: str, on_corrupt: str) -> Counts:
    """As entities: reads the items, and makes blocks of rows."""
    path = str(folder / name)
    make_entity_table.check_entity_dump(path, whole=on_corrupt == "fail")
    blocks = make_entity_table.make_blocks(Scratch(str(folder)), ["ukwiki", "enwiki"])
    blocks.start_bundle()
    found = Counts()
    for unit in read_dumps.plan_units(path, WORKERS):
        for kind, batch in _count(make_entity_table._read_unit(unit, on_corrupt)):
            if kind == "records":
                found[kind] += len(batch)
                found["blocks"] += len(list(blocks.process(batch)))
            else:
                found[kind] += batch if kind == "skipped" else 1
    found["blocks"] += len(list(blocks.finish_bundle()))
    return found


def read_news(folder: pathlib.Path, name: str, on_corrupt: str) -> Counts:
    """As lm1b: reads the lines, and tokenises them."""
    paths = [str(folder / name)]
    check_lines(paths, whole=on_corrupt == "fail")
    how = on_corrupt, read_lines.MEMBERS, BLOCK_BYTES
    found = Counts()
    for unit in read_lines.plan_units(paths, WORKERS):
        for kind, block in _count(read_lines._read_unit(unit, *how)):
            if kind == "records":
                tokenized = tokenize_block(block, "en", False, CURRENT_PERL)
                found[kind] += tokenized.count(b"\n")
            elif kind != "lines":
                found[kind] += 1
    return found


def read_library(folder: pathlib.Path, name: str, on_corrupt: str) -> Counts:
    """As pg19 and simplebooks: reads the books, strips, dates and measures them."""
    paths = [str(folder / name)]
    check_books(paths, whole=on_corrupt == "fail")
    scratch = Scratch(str(folder))
    found = Counts()
    for source in read_books.share_out(paths, WORKERS):
        for kind, unit in _count(read_books.plan_book_units(source, on_corrupt)):
            if kind != "records":
                found[kind] += 1
                continue
            for output, file in _count(read_books.read_book_unit(unit, scratch, on_corrupt)):
                if output != "files":
                    found[output] += 1
                if output == "records":
                    found += _follow_book(file, scratch)
    return found


def _follow_book(file: BookFile, scratch: Scratch) -> Counts:
    found = Counts()
    for kind, book in _count(screen_books.strip_book(join_book(file, None), scratch, True)):
        found[f"stripped/{kind}"] += 1
        if kind == "records":
            found["dated"] += len(list(screen_books.date_book(book, 1919)))
            screen_books.measure_book(book)
    return found


def read_catalog(folder: pathlib.Path, name: str, on_corrupt: str) -> Counts:
    """As pg19: reads the entries."""
    units = catalog.plan_units([str(folder / name)], WORKERS)
    return Counts(
        kind for unit in units for kind, _ in _count(catalog.read_entries(unit, on_corrupt))
    )


def read_book_table(folder: pathlib.Path, name: str, on_corrupt: str) -> Counts:
    """metadata.csv, a table of splits, a list of words."""
    path = str(folder / name)
    if name.startswith("metadata"):
        return Counts(records=len(list(catalog.read_released_books(path))))
    if name.startswith("splits"):
        return Counts(records=len(catalog.read_split_table(path)))
    return Counts(records=len(screen_books.read_word_list(path)))


def read_pins(folder: pathlib.Path, name: str, on_corrupt: str) -> Counts:
    """As wiki40b --pin-splits."""
    is_build = (folder / "COMPLETED").exists()
    blocks: dict[int, list[Any]] = {}
    for file in split_pins.find_pins([str(folder if is_build else folder / name)]).files:
        for unit in split_pins.plan_units(file):
            for bucket, block in split_pins.read_blocks(unit):
                blocks.setdefault(bucket, []).append(block)
    return Counts(records=sum(len(split_pins.unpack_pins(those)) for those in blocks.values()))


def read_settings(folder: pathlib.Path, name: str, on_corrupt: str) -> Counts:
    """refresh.toml, and tables of templates."""
    path = str(folder / name)
    if name == "refresh.toml":
        loaded = config.load_config(path)
        try:
            recipes = [config.recipe_of(table, loaded.refresh) for table in loaded.corpus]
        except ValueError as error:  # the command has been told the file
            raise ValueError(f"{path}: {error}") from None
        return Counts(records=len(recipes))
    return Counts(records=len(read_language("uk", [path]).templates))


# Translation.


def read_project(folder: pathlib.Path, name: str, on_corrupt: str) -> Counts:
    """As flores101 status, packets and package: everything that a project keeps."""
    project = open_project(str(folder / "project"))
    render_text(project, find_status(project))
    found = Counts()
    for code in project.languages:
        state = LanguageState(read_entries(project.journal(code)), project.ids)
        found["records"] += len(state.translations)
        plan_packet(state)
        if state.check:
            open_errors(state.check)
        reviews.current_reviews(state)
    return found


def read_packet(folder: pathlib.Path, name: str, on_corrupt: str) -> Counts:
    """As flores101 import and check, but that nothing is added to the journal."""
    project = open_project(str(folder / "project"))
    read = imports._read(project, folder / name, "fra", True, "")
    if not isinstance(read, imports.ReadFile):
        return Counts()
    texts = {one.id: one for one in read.translations}
    findings = check_translations(project.sentences, texts, find_language("fra"))
    return Counts(records=len(texts), findings=len(findings))


def read_review(folder: pathlib.Path, name: str, on_corrupt: str) -> Counts:
    """As flores101 review --import and check --waive-table."""
    if name == "waivers.tsv":
        return Counts(records=len(read_waivers(str(folder / name))))
    project = open_project(str(folder / "project"))
    _, _, sheet = reviews._read(project, folder / name)
    return Counts(records=len(sheet.reviewed))


def read_sources(folder: pathlib.Path, name: str, on_corrupt: str) -> Counts:
    """As flores101 packets --source, and flores101 --topics."""
    if name.startswith("topics"):
        return Counts(records=len(read_topics([str(folder / name)])))
    place = folder / ("release" if name.startswith("release/") else name)
    return Counts(records=len(find_source(str(place))))


def read_scored(folder: pathlib.Path, name: str, on_corrupt: str) -> Counts:
    """As score spbleu, and the counting of pieces over lines to evaluate on."""
    reference, hypothesis, model = (
        str(folder / each) for each in ("reference.devtest", "hypothesis.devtest", "spm.model")
    )
    report = score_translations(
        reference, [hypothesis], model=model, metadata=str(folder / "metadata.tsv")
    )
    trained = SimpleNamespace(model=report.model.data)
    read_sentences.count_file(read_sentences.EvaluationFile("fra", hypothesis), cast(Any, trained))
    return Counts(records=len(report.scored))


# What corpusmill has written itself.


def read_build(folder: pathlib.Path, name: str, on_corrupt: str) -> Counts:
    """As verify, report, score, compare and subwords. The first error is raised when all have run."""
    found = Counts()
    errors = []
    for read in (_verify, _report, _score, _compare, _learn):
        try:
            found += read(str(folder))
        except InputError as error:
            errors.append(error)
    if errors:
        raise errors[0]
    return found


def _verify(folder: str) -> Counts:
    found = Counts()
    for place in finished_builds.find_folders([folder]).finished:
        try:
            build = finished_builds.open_build(place)
        except InputError:
            found["faults"] += 1  # as a line of the report
            continue
        found["faults"] += len(list(_faults_of(build)))
        for file in list_files(build):
            found["faults"] += bool(find_fault(file))
            found["files"] += 1
    return found


def _report(folder: str) -> Counts:
    sizes = find_sizes([folder])
    for render in RENDERERS.values():
        render(sizes)
    return Counts(records=1)


def _score(folder: str) -> Counts:
    if finished_builds.open_build(folder).corpus == "wiki40b":
        try:
            score("bpc", folder, "test", log_likelihood="-1e5")
        except ValueError as error:
            if type(error) is not ValueError:
                raise
            raise InputError(folder, str(error)) from None  # of the flags, which name the folder
    return Counts()


def _compare(folder: str) -> Counts:
    build = finished_builds.open_build(folder)
    shape = shapes().get(build.corpus)
    if not shape:
        return Counts()
    compared = compare.choose_compared(build, build, shape, text=False)
    found = Counts()
    for file in compare.document_files(build, shape):
        for side in compare.plan_row_groups((True, file.file)):
            found["compared"] += compare.read_rows(side, compared).num_rows
    return found


def _learn(folder: str) -> Counts:
    known = layouts()
    if finished_builds.open_build(folder).corpus not in known:
        return Counts()
    sources = find_sources([folder], known)
    found = Counts()
    for language, of_language in sources.builds.items():
        for build in of_language:
            for file in _parquet_files(build):
                for part in read_sentences.plan_files((language, known[build.corpus], [file]), 0):
                    found["sentences"] += len(list(read_sentences.read_part(part, [])))
    return found


def _parquet_files(build: finished_builds.Build) -> Iterator[Any]:
    paths = {path for of_split in build.files.values() for path in of_split}
    return (file.file for file in list_files(build) if file.file.path in paths)


def read_entity_table(folder: pathlib.Path, name: str, on_corrupt: str) -> Counts:
    """As wiki40b --entities."""
    table = entity_table.EntityTable.open(str(folder))
    column = table.column_of("ukwiki")
    english = table.column_of("enwiki")
    found = Counts()
    for at, group in enumerate(table.row_groups):
        found["records"] += len(list(entity_table.titles_and_items(group, column)))
        found["aliases"] += len(list(entity_table.template_aliases(group, english, column)))
        middle = (group.first_id + group.last_id) // 2
        ids = (group.first_id, middle, group.last_id)
        facts = at, [(number, PageFacts(qid=f"Q{number}")) for number in ids]
        found["facts"] += len(list(entity_table.add_classes(facts, table.row_groups, table.kinds)))
    return found


def read_checksums(folder: pathlib.Path, name: str, on_corrupt: str) -> Counts:
    """As verify --md5."""
    (build,) = finished_builds.find_builds([str(folder / "build")], "lm1b")
    found = compare_with_list(build, str(folder / name))
    return Counts(records=found.equal, faults=len(found.faults))


def read_log_likelihoods(folder: pathlib.Path, name: str, on_corrupt: str) -> Counts:
    """As score bpc, on the numbers of a file."""
    score("bpc", str(folder / "build"), "test", log_likelihood=str(folder / name))
    return Counts(records=1)


def read_stage(folder: pathlib.Path, name: str, on_corrupt: str) -> Counts:
    """As a build that goes on: a stage that is not whole is run again."""
    with stage_folders(str(folder / "build")) as folders:
        folders.open(["clean"])
        try:
            stage = folders.find("clean")
        except DamagedStageError:
            return Counts(rejected=1)
        if not stage:
            return Counts(rejected=1)
        found = Counts()
        for field, of_field in stage_files.read_list(stage.folder).items():
            for part in of_field.parts:
                found[field] += len(list(stage_files.read_part(part, stage.folder)))
    return found


def read_state(folder: pathlib.Path, name: str, on_corrupt: str) -> Counts:
    """Reads the state of a refresh; damaged state is found again."""
    if name == "CURRENT":
        return Counts(records=bool(read_current(str(folder))))
    if name.startswith("."):
        url = "https://dumps.example.org/a.bz2"
        part = DiskPart(str(folder), sources.RemoteFile("a.bz2", (url,), 10))
        part.headers_to_resume(url)
        return Counts(records=bool(part.note), faults=bool(part.fault()))
    state = StateFolder(str(folder))
    state.load("wiki40b-uk", sets_aside=False)
    state.save("wiki40b-uk", state.load("wiki40b-uk"))
    return Counts(records=1)


def read_dump_folder(folder: pathlib.Path, name: str, on_corrupt: str) -> Counts:
    """As wiki40b --dumps: what dumpstatus.json says of the files."""
    found = find_dumps([str(folder)], ["uk"])
    return Counts(records=len(found.wikis), rejected=len(found.passed_over))


MIRROR = "https://mirror.example.org"


def read_mirror(folder: pathlib.Path, name: str, on_corrupt: str) -> Counts:
    """As a refresh with a single mirror."""
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    source: sources.Source = sources.NewsSource(mirrors=(MIRROR,))
    if "dumpstatus.json" in files:
        source = sources.WikimediaSource("ukwiki", mirrors=(MIRROR,))
    elif "sums.txt" in files:
        source = sources.EntitiesSource((MIRROR,))
    offers = find_offers(source, cast(requests.Session, _Session(files)))
    return Counts(records=len(offers), rejected=not offers)


class _Session:
    """Answers as a mirror with these files."""

    def __init__(self, files: Mapping[str, bytes]):
        self._files = files

    def get(self, url: str, **_: object) -> "_Response":
        name = url.rpartition("/")[2]
        if name == "":
            is_inner = "folder.html" in self._files and url.rstrip("/")[-8:].isdigit()
            name = "folder.html" if is_inner else "listing.html"
        elif "sha1sums" in name:
            name = "sums.txt"
        return _Response(self._files.get(name))

    def head(self, url: str, **_: object) -> "_Response":
        try:
            told = json.loads(self._files.get("headers.json", b"{}"))
        except (ValueError, RecursionError):
            told = {}
        headers = told if isinstance(told, dict) else {}
        return _Response(b"", {str(key): str(value) for key, value in headers.items()})


class _Response(io.BytesIO):
    def __init__(self, content: bytes | None, headers: Mapping[str, str] = {}):
        super().__init__(content or b"")
        self.status_code = 404 if content is None else 200
        self.headers = headers
        self.raw = self

    def raise_for_status(self) -> None:
        pass

    def read1(self, size: int | None = -1, **_: object) -> bytes:
        return super().read1(size)

"""Builds many languages of Wiki-40B in one run.

The run builds an entity table, then a corpus for each language, then vocabularies over all languages.
"""

import argparse
import dataclasses
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from corpusmill.pipelines.run import flags
from corpusmill.pipelines.run.settings import settings_of
from corpusmill.transforms.wikipedia.dump_folder import ANY, LAYOUTS

from .entities_settings import entity_table
from .wiki40b_settings import CORPUS, VERSION, WHICH, Wiki40bConfig

if TYPE_CHECKING:
    from corpusmill.pipelines.run.corpus_build import CorpusBuild
    from corpusmill.pipelines.run.forecast import Forecast
    from corpusmill.transforms.wikipedia.find_dumps import FoundDumps, WikiDump

    from .batch import NamedBuild, Outcome


@dataclasses.dataclass(frozen=True)
class LanguagesConfig:
    """The settings of a run that builds many languages, beside those of each build."""

    languages: str = WHICH.setting(
        "",
        'several codes, separated by commas: "uk,el"; or "all" for all languages with a dump; or "paper" for'
        " the 41 languages of the paper",
        metavar="CODES",
    )
    dumps: Sequence[str] = WHICH.setting(
        (), "folders with the layout of the dump server (see below)", metavar="DIR"
    )
    layout: str = WHICH.setting(
        ANY,
        "with --dumps: which files to use: dumps (with dumpstatus.json), exports (Content File Exports, with"
        " SHA256SUMS), or any (default), the newest of both; if both have the same date, the dump is used,"
        " because it has tables of that date",
        choices=LAYOUTS,
    )
    multilingual: bool = WHICH.setting(
        True, "with --languages: train no vocabularies over all languages"
    )


VERIFIED = "verified.tsv"  # in the output folder: findings of the final check on a cluster


def wiki40b_config(settings: argparse.Namespace, **given: Any) -> Wiki40bConfig:
    """Returns the settings of one Wiki-40B build, from flags. Values in `given` replace those
    of the flags.
    """
    return Wiki40bConfig(**{**settings_of(Wiki40bConfig, settings), **given})


def build_wiki40b(
    corpus: "CorpusBuild", settings: argparse.Namespace, beam_flags: Sequence[str]
) -> "Forecast | None":
    """Builds the Wiki-40B corpus of one language, and prints the audit if --audit is given.

    With --dry-run, only prints and returns a forecast of the cost. Otherwise returns None.
    """
    from apache_beam.io.filesystems import FileSystems

    from corpusmill.pipelines.inspect.report import print_audit
    from corpusmill.transforms.files.builds.finished_builds import read_json
    from corpusmill.transforms.wikipedia.audit_pages import SUMMARY

    forecast = flags.launch_build(corpus, settings, beam_flags)
    if settings.audit and not settings.dry_run and not settings.json:
        print_audit(read_json(FileSystems.join(settings.output, *corpus.path), SUMMARY))
    return forecast


def build_languages(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    """Builds all languages in `--languages` from the dumps in `--dumps`. Returns the exit status.

    If a corpus fails, the others are still built. Finished builds are kept.
    """
    from corpusmill.pipelines.inspect.findings import FAULTY
    from corpusmill.pipelines.run.extras import check_extras
    from corpusmill.transforms.files.errors import BuildError
    from corpusmill.transforms.wikipedia.find_dumps import (
        ALL,
        NEWEST,
        PAPER,
        add_older_dumps,
        find_dumps,
        parse_languages,
    )
    from corpusmill.transforms.wikipedia.screening import parse_page_id

    from . import batch

    languages = parse_languages(settings.languages, settings.dumps)
    # Raises errors for contradictory settings now, instead of after hours.
    given = {"dump": ["-"], "entities": "", "dump_date": "", "newer_than": ()}
    wiki40b_config(settings, language=languages[0], **given)
    if parse_page_id(settings.newer_than):
        raise ValueError(
            "--newer-than must be folders of older dumps, with the same layout as --dumps: a page id cannot"
            " be used with --languages, because it is valid in one wiki only"
        )
    found = find_dumps(
        settings.dumps,
        languages,
        settings.dump_date or NEWEST,
        settings.layout,
        keep_good=settings.on_corrupt != "fail",
    )
    if settings.newer_than:
        found = add_older_dumps(found, settings.newer_than)
    is_named = settings.languages not in (ALL, PAPER)
    _tell_what_is_passed_over(found, is_named)
    check_extras([settings.command], [wiki.language for wiki in found.wikis])
    sources = settings.entities or ([found.entities.path] if found.entities else [])
    table = entity_table(sources, settings, beam_flags, languages)
    builds = [_named_corpus(wiki, table, settings, beam_flags) for wiki in found.wikis]
    if settings.dry_run:
        batch.look_ahead(builds, found.missing, missing_is_failure=is_named)
        return 0
    corpora = batch.run_batch(builds, replace=settings.replace)
    vocabularies = _build_multilingual(corpora, settings, beam_flags)
    missing = (batch.Outcome(one.language, "", batch.MISSING, one.reason) for one in found.missing)
    outcomes = [*missing, *corpora, *vocabularies]
    finished = [one.target for one in corpora if one.status != batch.FAILED]
    if not settings.json:
        batch.print_sizes(outcomes)
    is_sound = not finished or _check_splits(finished, settings, beam_flags)
    if finished and not settings.json:
        print()
    batch.conclude(outcomes, missing_is_failure=is_named, as_json=settings.json)
    if not is_sound:
        raise BuildError(f"the check of the finished builds found faults, listed above; {FAULTY}")
    return 0


def _check_splits(
    targets: Sequence[str], settings: argparse.Namespace, beam_flags: Sequence[str]
) -> bool:
    """Checks, over all languages together, that no Wikidata entity is in two splits.

    Returns True if the builds have no fault.

    Args:
      targets: The folders of finished builds.
    """
    from apache_beam.io.filesystems import FileSystems

    from corpusmill.pipelines.inspect.verify import check_builds, print_verdict, to_json_line
    from corpusmill.transforms.files.builds.finished_builds import open_build
    from corpusmill.transforms.files.errors import IN_PROCESS

    # Workers of other runners report through a file.
    is_here = settings.runner == IN_PROCESS
    report = "" if is_here else FileSystems.join(settings.output, VERIFIED)
    verdict = check_builds(
        [open_build(target) for target in targets],
        **flags.runner_of(settings, beam_flags),
        report=report,
    )
    if settings.json:
        print(to_json_line(verdict))
    else:
        print_verdict(verdict, report, is_last=False)
    return verdict.is_sound


def _tell_what_is_passed_over(found: "FoundDumps", is_named: bool) -> None:
    for folder in found.passed_over:
        logging.getLogger(__name__).warning(
            "dump not used: %s/%s: %s", folder.dbname, folder.date, folder.reason
        )
    for wiki in found.missing if is_named else ():
        logging.getLogger(__name__).warning("no dump: %s: %s", wiki.language, wiki.reason)


def _named_corpus(
    wiki: "WikiDump", table: str, settings: argparse.Namespace, beam_flags: Sequence[str]
) -> "NamedBuild":
    from apache_beam.io.filesystems import FileSystems

    from .batch import NamedBuild
    from .wiki40b import Wiki40b

    config = wiki40b_config(
        settings,
        language=wiki.language,
        dump=wiki.dump,
        page_props=wiki.page_props,
        page_table=wiki.page_table,
        items_per_site=wiki.items_per_site,
        entities=table,
        dump_date=wiki.date,
        newer_than=wiki.older,
    )
    path = (CORPUS, config.edition(), f"{wiki.date}-{VERSION}")
    return NamedBuild(
        f"{wiki.language} {wiki.date}",
        FileSystems.join(settings.output, *path),
        lambda: Wiki40b(config),
        lambda corpus: build_wiki40b(corpus, settings, beam_flags),
    )


def _build_multilingual(
    corpora: "Sequence[Outcome]", settings: argparse.Namespace, beam_flags: Sequence[str]
) -> "list[Outcome]":
    """Trains vocabularies on the text of all languages together.

    Does nothing if the user has set --no-multilingual, if the build of a corpus has failed, or if there is
    only one language.

    Args:
      corpora: The results of the builds of the languages.

    Returns a list with the result of the training, or an empty list.
    """
    from apache_beam.io.filesystems import FileSystems

    from . import batch
    from .wiki40b_multilingual import Wiki40bMultilingual
    from .wiki40b_multilingual_settings import MultilingualConfig

    languages = {outcome.label.split()[0] for outcome in corpora}
    if not settings.multilingual or len(languages) < 2:
        return []
    if any(outcome.status == batch.FAILED for outcome in corpora):
        logging.getLogger(__name__).warning(
            "no multilingual vocabularies are trained, because the build of a corpus failed"
        )
        return []
    multilingual = Wiki40bMultilingual(MultilingualConfig([one.target for one in corpora]))
    build = batch.NamedBuild(
        "multilingual",
        FileSystems.join(settings.output, *multilingual.path),
        lambda: multilingual,
        lambda corpus: flags.launch_build(corpus, settings, beam_flags),
    )
    return batch.run_batch([build], replace=settings.replace)


def add(parser: argparse.ArgumentParser) -> None:
    r"""Builds one language of Wiki-40B from dump files, or many from a folder of dumps.

    examples:
      All Wikipedias in a folder with the layout of the dump server:
        corpusmill wiki40b --languages all --dumps /data/dumps --output corpora
      The 41 languages of the paper; missing ones are listed:
        corpusmill wiki40b --languages paper --dumps /data/dumps --output corpora
      One wiki, from the given files; quoted patterns are expanded by corpusmill:
        corpusmill wiki40b --language uk --output corpora \
          --dump 'ukwiki-20261101-pages-articles-multistream.xml.bz2' \
          --page-props 'ukwiki-20261101-page_props.sql.gz' \
          --entities 'wikidata-20261101-all.json.bz2'
      From the dump alone: articles are identified by page ids, and the card lists what is missing:
        corpusmill wiki40b --language el --dump elwiki-latest-pages-articles.xml.bz2 --output corpora
      The undamaged part of a truncated dump:
        corpusmill wiki40b --language vi --dump viwiki.xml.xz --on-corrupt keep-good --output corpora
      A newer dump, in which every entity keeps its split; new entities get a split by hash:
        corpusmill wiki40b … --pin-splits 'corpora/wiki40b/*/20251101-1.3.0'
      Only articles that are not in a dump of 2023, or only those above a page id:
        corpusmill wiki40b … --newer-than 'ukwiki-20230501-pages-articles-multistream.xml.bz2'
        corpusmill wiki40b … --newer-than 4300000
        corpusmill wiki40b --languages uk,el --dumps /data/dumps … --newer-than /data/dumps-2023
      Without near-duplicates of longer articles, and without stubs:
        corpusmill wiki40b … --near-duplicates 0.8 --min-words 20
      With an audit of 500 pages for missing words and holes in sentences:
        corpusmill wiki40b … --audit 500
      On a Spark cluster (all Beam flags pass through):
        corpusmill wiki40b … --runner SparkRunner --spark_master_url spark://host:7077

    where files are searched, below each folder of --dumps:
      ukwiki/20261101/ukwiki-20261101-pages-articles-multistream.xml.bz2, or its parts
      other/mediawiki_content_current/ukwiki/2026-11-01/xml/bzip2/, with SHA256SUMS: an export; the folders other/
      and mediawiki_content_current/ may be missing
      ukwiki/20261101/ukwiki-20261101-page_props.sql.gz (or the one with the nearest date), -page.sql.gz
      wikidatawiki/20261101/wikidatawiki-20261101-wb_items_per_site.sql.gz
      other/wikibase/wikidatawiki/20261101/wikidata-20261101-all.json.bz2, or the same file below
      wikidatawiki/entities/; or a finished entity table below entities/

    what you get, in <output>/wiki40b/<language>/<dump date>-<version>/:
      train|validation|test-*.parquet   pyarrow, pandas, datasets.load_dataset("parquet", …)
      wiki40b-*.tfrecord-*              tfds.builder_from_directory(folder)
      train|validation|test-*.jsonl     with --formats: JSON lines, text and others (docs/formats.md)
      rejected/                         every page that was not kept, with the reason
      unrendered-templates.tsv          templates whose text is not defined in any table, most frequent first
      signatures-*.parquet              with --signatures: MinHash signatures (docs/overlap.md)
      audit/                            with --audit: holes in the text, by class, template and page
      learned-headings.tsv              headings of dropped sections, if any were learned from the dump
      sentencepiece/                    a vocabulary of 32,000 pieces; stats.json counts the pieces of each split
      stats.json manifest.json README.md COMPLETED

    and with --languages, below <output>: entities/ (the table of Wikidata's items, built once for all
    languages) and wiki40b/multilingual-<number of languages>/ (vocabularies of 64,000 and 128,000 pieces).

    A folder without the file COMPLETED is unfinished; the next run replaces it. With --languages, a failed
    build does not stop the others, and the next run builds only the missing ones. Exit status: 0 done, 1 bad
    input or a failed language, 2 wrong settings.
    """  # noqa: E501
    flags.describe(parser, add.__doc__, _run)
    flags.add_build(parser, Wiki40bConfig, LanguagesConfig)


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    if settings.languages:
        _refuse(settings, "--languages", ("language", *_FILES))
        if not settings.dumps:
            raise ValueError("--languages needs --dumps DIR, the folder with the dumps")
        return build_languages(settings, beam_flags)
    if not settings.language:
        raise ValueError("--language or --languages is missing: name the corpora to build")
    _refuse(settings, "--language", ("dumps",))
    if settings.layout != ANY:
        raise ValueError("--layout needs --dumps")
    return _build_one(settings, beam_flags)


_FILES = ("dump", "page_props", "items_per_site", "page_table")


def _refuse(settings: argparse.Namespace, flag: str, others: Sequence[str]) -> None:
    for other in others:
        if getattr(settings, other):
            raise ValueError(f"--{other.replace('_', '-')} cannot be used with {flag}")


def _build_one(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    from corpusmill.pipelines.run.extras import check_extras

    from .wiki40b import Wiki40b

    check_extras([settings.command], [settings.language])
    # contradictory settings and wrong inputs are errors here, not after the entity table
    Wiki40b(wiki40b_config(settings, entities=""))
    table = entity_table(settings.entities, settings, beam_flags, [settings.language])
    build_wiki40b(Wiki40b(wiki40b_config(settings, entities=table)), settings, beam_flags)
    return 0

"""Explains how a page of a dump, or wikitext from a file, is cleaned."""

import argparse
import pathlib
import sys
from typing import NamedTuple

from corpusmill.pipelines.inspect.build_document import Origin, build_in
from corpusmill.pipelines.inspect.find_page import find_page, page_of_wikitext
from corpusmill.transforms.files.open_input import InputError, match_inputs, read_input
from corpusmill.transforms.files.records import Page
from corpusmill.transforms.wikipedia.check_dumps import check_dumps
from corpusmill.transforms.wikipedia.clean_wikitext import CleanWikitext
from corpusmill.transforms.wikipedia.read_language import read_language
from corpusmill.transforms.wikipedia.row_columns import RowSource
from corpusmill.transforms.wikipedia.screening import PageScreening
from corpusmill.transforms.wikitext.explain.explained_page import ExplainedPage, explain_page
from corpusmill.transforms.wikitext.language import Language
from corpusmill.transforms.wikitext.templates.template_pages import NO_TEMPLATES
from corpusmill.transforms.wikitext.wikis import dbname_of

STANDARD_INPUT = "-"


class Explained(NamedTuple):
    """The explanation of how a page is cleaned, with facts about the source of the page."""

    page: ExplainedPage
    facts: list[tuple[str, str]]  # (name, value)


def explain_dump(settings: argparse.Namespace) -> Explained:
    """Explains how the page `settings.title` of the dump `settings.dump` is cleaned.

    Raises InputError if a file is not a dump or is a dump of another wiki, or if no file contains the page.
    """
    paths = match_inputs(settings.dump)
    language = read_language(settings.language, match_inputs(settings.templates))
    dbname = dbname_of(settings.language)
    site = check_dumps(paths, settings.language, dbname, whole=False)
    found = find_page(paths, settings.title, language, site, wiki_templates=settings.wiki_templates)
    page = found.page
    explained = explain_page(page.text, page.title, language, site.namespaces, found.of_wiki)
    url = RowSource(settings.language, dbname).url(page.title, str(page.revision_id))
    facts = [
        ("page", f"{page.page_id} {page.title}"),
        ("revision", f"{page.revision_id} {page.revised}".strip()),
        ("source", url),
        ("dump", found.dump),
        (
            "templates of the wiki",
            f"{len(found.of_wiki.definitions):,} definitions, {len(found.of_wiki.aliases):,} redirects",
        ),
    ]
    return Explained(explained, [*facts, *_fate(page, language, explained)])


def explain_text(settings: argparse.Namespace) -> Explained:
    """Explains how the wikitext in a file, which `settings` names, is cleaned.

    Raises InputError if the file is missing or not UTF-8.
    """
    path = settings.wikitext
    language = read_language(settings.language, match_inputs(settings.templates))
    try:
        is_standard = path == STANDARD_INPUT
        data = sys.stdin.buffer.read() if is_standard else read_input(path)
        wikitext = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(path, f"not UTF-8: {error}", error.start) from None
    title = settings.title or ("" if is_standard else pathlib.PurePath(path).stem)
    page = page_of_wikitext(wikitext, title)
    explained = explain_page(wikitext, title, language, {}, NO_TEMPLATES)
    facts = [("wikitext", path), ("title", title)]
    return Explained(explained, [*facts, *_fate(page, language, explained)])


def _fate(page: Page, language: Language, explained: ExplainedPage) -> list[tuple[str, str]]:
    """Returns (name, value) pairs about the result of cleaning a page.

    They contain the reason for a rejection, the holes (places where words are missing), and the templates
    whose text was guessed. Rules that depend on other pages are not applied.
    """
    told = []
    if reason := PageScreening(language, uses_template_names=True).reason_to_reject(page):
        told.append(("rejected", f"screen-pages/{reason.slug} {reason.detail}".strip()))
    elif not explained.cleaned:
        told.append(("rejected", f"{CleanWikitext.STAGE}/{explained.fault}"))
    elif not explained.cleaned.sections:
        told.append(("rejected", f"{CleanWikitext.STAGE}/empty-after-cleaning"))
    if explained.cleaned:
        for name, counts in (
            ("holes", explained.cleaned.unrendered),
            ("guessed", explained.cleaned.guessed),
            ("unknown values", explained.cleaned.unknown),
        ):
            if counts:
                told.append((name, ", ".join(f"{one} × {uses}" for one, uses in counts.items())))
        if explained.cleaned.dropped:
            told.append(("dropped sentences", " | ".join(explained.cleaned.dropped)))
    return told


def title_and_language(folder: str, origin: Origin) -> tuple[str, str]:
    """Returns the pair (title, language code) of an article that was found in a build.

    Args:
      folder: The folder of the build, or a folder that has builds of one edition in its subfolders.
      origin: What the build says about the article.

    Raises ValueError if the build is not a build of Wiki-40B.
    """
    build = build_in(folder)
    if build.corpus != "wiki40b":
        raise ValueError(f"--dump is for builds of wiki40b, but this is a build of {build.corpus}")
    return dict(origin.facts)["title"], build.language

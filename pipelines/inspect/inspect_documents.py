"""Shows how a page of a wiki is converted to text, or where a document of a build came from.

examples:
  The source and the text of an article side by side:
    corpusmill inspect wiki --language uk --title Київ --dump 'ukwiki-20261101-*-multistream.xml.bz2'
  The same as a page for a browser, with every template and link:
    corpusmill inspect wiki --language uk --title Київ --dump ukwiki-….xml.bz2 --html kyiv.html
  Wikitext of your own, "-" for standard input:
    corpusmill inspect wiki --language uk --wikitext draft.txt
  The source of a document of a finished build, and what was removed from it:
    corpusmill inspect corpora/wiki40b/uk Q1899
    corpusmill inspect corpora/pg19/en/20261101-1.2.0 1342

inspect wiki shows, section by section:
  the source beside the text, below it on a screen of less than 76 columns
  the text of each template, and its rule: file and line of its table below transforms/wikitext
  links that leave no text; other links, comments, tables and references are only counted, or listed by --html
  dropped sections, and the line of the table that lists their heading
With the index of a multistream dump beside it (…-multistream-index.txt.bz2), only the parts of the dump with
the page and its templates are read; without the index, the whole dump is read.

inspect BUILD ID shows the row, the address of the source, the inputs, the lines about the document in the
build's own tables, and findings of an audit. For a rejected document, it shows the stage and the reason. ID
is a value of the id column, or a title; in a corpus without ids, it is the text. With --dump, the source of
an article is also shown.
"""

import argparse
from collections.abc import Sequence

from corpusmill.pipelines.run.flags import Commands, Flags, add_command

WIKI = "wiki"


def add(commands: Commands) -> None:
    """Adds the command `corpusmill inspect` to the parser."""
    about = "shows how a page was converted to text, or where a document came from"
    parser = add_command(commands, "inspect", about, __doc__, _run)
    parser.add_argument(
        "what", metavar="wiki | BUILD", help='"wiki", or a folder with a finished build'
    )
    parser.add_argument(
        "id", metavar="ID", nargs="?", default="", help="with BUILD: the id of a document"
    )
    flags = Flags(parser)
    flags.text("--language", "CODE", "code of the Wikipedia, as in its address")
    flags.files("--dump", "files of a dump (pages-articles)")
    flags.text("--title", "TITLE", "title of the page in the dump")
    flags.text("--wikitext", "FILE", "read wikitext from a file instead of a dump")
    flags.files("--templates", "your own TOML tables of templates, as for wiki40b")
    flags.switch(
        "--no-wiki-templates",
        "do not read the template pages of the dump",
        dest="wiki_templates",
        action="store_false",
    )
    flags.text("--html", "FILE", "write a page for a browser, which needs no network")
    parser.set_defaults(extras=[])


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    if settings.what == WIKI:
        _check(settings)
        _show_page(settings, [])
        return
    if not settings.id:
        raise ValueError("the id of a document is missing: inspect BUILD ID")
    _show_document(settings)


def _check(settings: argparse.Namespace) -> None:
    if settings.id:
        raise ValueError(f"inspect {WIKI} has no argument ID: name the page with --title")
    if not settings.language:
        raise ValueError("--language is missing: give the code in the address of the Wikipedia")
    if bool(settings.dump) == bool(settings.wikitext):
        raise ValueError("give either --dump and --title, or --wikitext")
    if settings.dump and not settings.title:
        raise ValueError("--title is missing: the title of a page in the dump")


def _show_page(settings: argparse.Namespace, facts: Sequence[tuple[str, str]]) -> None:
    from corpusmill.pipelines.inspect.explain import explain_dump, explain_text

    explained = (explain_text if settings.wikitext else explain_dump)(settings)
    facts = [*facts, *explained.facts]
    if settings.html:
        from corpusmill.pipelines.inspect.page_in_browser import make_page
        from corpusmill.transforms.files.safe_files import write_whole

        write_whole(settings.html, "".join(make_page(explained.page, facts)).encode("utf-8"))
        print(f"written: {settings.html}")
        return

    from corpusmill.pipelines.inspect.page_on_screen import draw_page
    from corpusmill.transforms.files.drawing import screen_columns

    print(draw_page(explained.page, facts, screen_columns() or 80), end="")


def _show_document(settings: argparse.Namespace) -> None:
    from corpusmill.pipelines.inspect.build_document import find_document
    from corpusmill.pipelines.inspect.explain import title_and_language
    from corpusmill.pipelines.inspect.page_on_screen import draw_origin
    from corpusmill.transforms.files.drawing import screen_columns

    if settings.html and not settings.dump:
        raise ValueError("--html needs --dump, which contains the source of the article")
    for origin in find_document(settings.what, settings.id):
        print(draw_origin(origin, screen_columns() or 80), end="")
        if settings.dump:
            settings.title, settings.language = title_and_language(settings.what, origin)
            _show_page(settings, [])

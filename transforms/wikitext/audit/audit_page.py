"""Compares the wikitext of a page with the page's text in the corpus, to find errors of the cleaner.

The wikitext is parsed with mwparserfromhell. The audit uses neither the language tables nor the rules of the
cleaner (wikitext/). Otherwise it would repeat their errors and not find them. The only module that the audit
shares with the cleaner is article_markers, the layout of articles. A test checks that it is the only one. The
names of namespaces are passed as an argument.
"""

from typing import NamedTuple

from corpusmill.transforms.wikitext.article_markers import parse_article
from corpusmill.transforms.wikitext.audit.find_holes import compare
from corpusmill.transforms.wikitext.audit.findings import Comparison
from corpusmill.transforms.wikitext.audit.source_view import view_source


class AuditTask(NamedTuple):
    """A page whose text in the corpus is to be compared with its wikitext."""

    wikitext: str
    text: str  # the article in Wiki-40B layout; "" for a page that is not in the corpus
    hidden_namespaces: frozenset[str]  # names of files, media and categories, in lower case


def audit_page(task: AuditTask) -> Comparison:
    """Returns the differences between the wikitext of a page and its text in the corpus."""
    lines: list[str] = []
    paragraphs = 0
    if task.text:
        for section in parse_article(task.text)[1]:
            lines += [section.heading] if section.heading else []
            lines += section.paragraphs
            paragraphs += len(section.paragraphs)
    found = compare(view_source(task.wikitext, task.hidden_namespaces), lines)
    return found._replace(paragraphs=paragraphs)

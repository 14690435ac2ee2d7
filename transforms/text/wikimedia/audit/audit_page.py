"""Audits one page: compares its wikitext, parsed by mwparserfromhell, with its text in the corpus.

The audit uses no table of a language and no rule of the cleaner (wikitext/), since an error there would also
be an error here, and nobody would notice it. It imports only the layout of articles (article_markers) and
gets names of namespaces; a test checks the imports.
"""

from typing import NamedTuple

from transforms.text.wikimedia.article_markers import parse_article
from transforms.text.wikimedia.audit.find_holes import compare
from transforms.text.wikimedia.audit.findings import Comparison
from transforms.text.wikimedia.audit.source_view import view_source


class AuditTask(NamedTuple):
    """A page to compare with its source."""

    wikitext: str
    text: str  # the article in Wiki-40B layout; "" for a page that is not in the corpus
    hidden_namespaces: frozenset[str]  # names of files, media and categories, in lower case


def audit_page(task: AuditTask) -> Comparison:
    """Returns the differences between the wikitext and the text of a page."""
    lines: list[str] = []
    paragraphs = 0
    if task.text:
        for section in parse_article(task.text)[1]:
            lines += [section.heading] if section.heading else []
            lines += section.paragraphs
            paragraphs += len(section.paragraphs)
    found = compare(view_source(task.wikitext, task.hidden_namespaces), lines)
    return found._replace(paragraphs=paragraphs)

"""One page: its wikitext as mwparserfromhell reads it, beside the text that the corpus has of it.

What is taken from the rest of the program is the layout of its output alone (article_markers), and names of
namespaces. Tables of languages, and rules of the cleaner (wikitext/), are not:
a fault in them would be a fault here, and nobody would see it. A test looks at the imports.
"""

from typing import NamedTuple

from transforms.text.wikimedia.article_markers import parse_article
from transforms.text.wikimedia.audit.find_holes import compare
from transforms.text.wikimedia.audit.findings import Comparison
from transforms.text.wikimedia.audit.source_view import view_source


class AuditTask(NamedTuple):
    """A page to compare with its source."""

    wikitext: str
    text: str  # of the article in Wiki-40B layout; "" for a page that is no article of the corpus
    hidden_namespaces: frozenset[str]  # names of files, media and categories, in lower case


def audit_page(task: AuditTask) -> Comparison:
    """Compares the two."""
    lines: list[str] = []
    paragraphs = 0
    if task.text:
        for section in parse_article(task.text)[1]:
            lines += [section.heading] if section.heading else []
            lines += section.paragraphs
            paragraphs += len(section.paragraphs)
    found = compare(view_source(task.wikitext, task.hidden_namespaces), lines)
    return found._replace(paragraphs=paragraphs)

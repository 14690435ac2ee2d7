"""Compares the wikitext of a page with the page's text in the corpus, to find errors of the cleaner.

The wikitext is parsed with mwparserfromhell. The audit uses neither the language tables nor the rules of the
cleaner (wikitext/). Otherwise it would repeat their errors and not find them. The only module that the audit
shares with the cleaner is article_markers, the layout of articles. A test checks that it is the only one. The
names of namespaces are passed as an argument.

Writes the report of an audit as data and as HTML.

The report has the number of findings by class and by template, and the findings in each page. The pages with
the most findings come first.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...files.markup import escape, html_table, make_head
from ..article_markers import parse_article
from . import holes as finding
from .find_holes import compare
from .source_view import view_source


class AuditTask(NamedTuple):
    """A page whose text in the corpus is to be compared with its wikitext."""

    wikitext: str
    text: str  # the article in Wiki-40B layout; "" for a page that is not in the corpus
    hidden_namespaces: frozenset[str]  # names of files, media and categories, in lower case


def audit_page(task: AuditTask) -> finding.Comparison:
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


MAX_TEMPLATES = 500
MAX_WORST = 100
TEMPLATE_COLUMNS = ("template", "shown", "nothing", "nothing_as_note", "taken_for_note")
COLUMNS = ("page_id", "title", "class", "template", "source", "text")


class AuditReport:
    """The report of an audit: the differences between the wikitext of sampled pages and their corpus text."""

    def __init__(self, pages: Iterable[finding.AuditedPage]):
        found = sorted(pages)
        self._uses = finding.add_uses(page.comparison.uses for page in found)
        self._pages = [(page, self._holes(page)) for page in found]
        self._pages.sort(key=lambda one: (-len(_in_text(one[1])), one[0].page_id))

    def _holes(self, page: finding.AuditedPage) -> list[finding.Hole]:
        return [hole for hole in page.comparison.holes if finding.counts_as_hole(hole, self._uses)]

    def rows(self) -> Iterator[tuple[object, ...]]:
        """Yields one row for each finding, with the columns of COLUMNS.

        A row is (page id, title, class, template, excerpt of the wikitext, excerpt of the corpus text).
        """
        for page, holes in self._pages:
            for hole in holes:
                yield page.page_id, page.title, hole.kind, hole.template, hole.source, hole.text

    def template_rows(self) -> Iterator[tuple[object, ...]]:
        """Yields one row for each template in running text. The most used templates come first.

        A row has the template's name, and three numbers of uses: those that left text, those that left none
        where a value is possible, and those that left none where a note is usual. The last field is "yes" if
        the template is taken for a note, otherwise "no".
        """
        for name, uses in sorted(self._uses.items(), key=lambda one: (-sum(one[1]), one[0])):
            yield name, *uses, "yes" if finding.is_note(uses) else "no"

    def summary(self) -> dict[str, Any]:
        """Returns the report's counts and rates. Rates are findings per 1,000 paragraphs."""
        audited = [page.comparison for page, _ in self._pages if not page.reason]
        reasons = Counter(page.reason for page, _ in self._pages if page.reason)
        paragraphs = sum(one.paragraphs for one in audited)
        kinds = Counter(hole.kind for _, holes in self._pages for hole in holes)
        kinds["all"] = kinds.total() - sum(kinds[kind] for kind in finding.NO_HOLES)
        return {
            "pages": {"drawn": len(self._pages), "audited": len(audited), **sorted_dict(reasons)},
            "paragraphs": paragraphs,
            "words": {
                "in_source": sum(one.source_words for one in audited),
                "in_text": sum(one.found_words for one in audited),
            },
            "holes": {
                kind: {
                    "count": kinds[kind],
                    "per_1000_paragraphs": round(1000 * kinds[kind] / max(paragraphs, 1), 2),
                }
                for kind in (*finding.CLASSES, "all")
            },
            "templates": list(self._templates()),
            "worst_pages": [
                {"page_id": page.page_id, "title": page.title, "holes": len(_in_text(holes))}
                for page, holes in self._pages[:MAX_WORST]
                if _in_text(holes)
            ],
        }

    def _templates(self) -> Iterator[dict[str, Any]]:
        """Yields an entry for each of the templates with the most findings, at most 500.

        An entry has the number of findings of each class. It also has the number of uses of the template that
        left text, the number of those that left none, and the title of a page with a finding.
        """
        kinds: dict[str, Counter[str]] = {}
        examples: dict[str, str] = {}
        for page, holes in self._pages:
            for hole in _in_text(holes):
                if hole.template:
                    kinds.setdefault(hole.template, Counter())[hole.kind] += 1
                    examples.setdefault(hole.template, page.title)
        ranked = sorted(kinds.items(), key=lambda one: (-one[1].total(), one[0]))
        for name, counts in ranked[:MAX_TEMPLATES]:
            uses = self._uses.get(name)
            became = {"shown": uses.shown, "nothing": uses.nothing + uses.notes} if uses else {}
            yield {
                "template": name,
                "holes": counts.total(),
                "classes": sorted_dict(counts),
                **became,
                "for_example_in": examples[name],
            }

    def html(self, language: str) -> str:
        """Returns the report as one self-contained HTML page.

        Args:
          language: the language code of the text, such as "uk".
        """
        summary = self.summary()
        pages = summary["pages"]
        total = summary["holes"]["all"]
        left_out = "".join(
            f", {count} not ({reason})"
            for reason, count in pages.items()
            if reason not in ("drawn", "audited")
        )
        about = (
            f"{pages['audited']:,} pages of {pages['drawn']:,} audited{left_out};"
            f" {summary['paragraphs']:,} paragraphs; {total['count']:,} holes,"
            f" {total['per_1000_paragraphs']} per 1,000 paragraphs (without {', '.join(finding.NO_HOLES)})."
            f" {finding.MARK} marks the place in the text."
        )
        kinds = (
            (kind, about, *summary["holes"][kind].values())
            for kind, about in finding.CLASSES.items()
        )
        templates = (
            (
                one["template"],
                one["holes"],
                ", ".join(one["classes"]),
                one.get("shown", ""),
                one.get("nothing", ""),
                one["for_example_in"],
            )
            for one in summary["templates"]
        )
        parts = [
            make_head(f"Audit of {language}", language=language),
            f'<main class="wide">\n<h1>Audit of {escape(language)}</h1>\n<p>{escape(about)}</p>\n',
            html_table(("class", "a reader meets", "holes", "per 1,000 paragraphs"), kinds),
            "<h2>Templates</h2>\n",
            html_table(
                ("template", "holes", "classes", "shown", "left nothing", "for example in"),
                templates,
            ),
            "<h2>Pages, the worst first</h2>\n",
        ]
        for page, holes in self._pages:
            if holes:
                title = f"{page.title} ({page.page_id}): {len(holes)}"
                rows = ((hole.kind, hole.template, hole.source, hole.text) for hole in holes)
                parts.append(f"<h3>{escape(title)}</h3>\n")
                parts.append(html_table(("class", "template", "source", "text"), rows))
        return "".join((*parts, "</main></body></html>\n"))


def _in_text(holes: Sequence[finding.Hole]) -> Sequence[finding.Hole]:
    """Returns the findings that count as errors: all except those of the classes in NO_HOLES.

    In these classes, the corpus text lacks no prose, or only whole sentences.
    """
    return [hole for hole in holes if hole.kind not in finding.NO_HOLES]


def sorted_dict(counts: Mapping[str, int]) -> dict[str, int]:
    """Returns the counts sorted in descending order."""
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))

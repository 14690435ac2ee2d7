"""The report of an audit: what is counted, and in which order."""

from corpusmill.transforms.files.markup import make_head
from corpusmill.transforms.wikitext.audit.audit_report import COLUMNS, AuditReport
from corpusmill.transforms.wikitext.audit.holes import NOTHING, AuditedPage, Comparison, Hole, Uses


def hole(kind: str, template: str = "") -> Hole:
    return Hole(kind, template, "in the source", "in the text")


def page(page_id: int, *holes: Hole, reason: str = "", **uses: Uses) -> AuditedPage:
    comparison = NOTHING if reason else Comparison(100, 50, 40, holes, uses)
    return AuditedPage(page_id, f"Page {page_id}", reason, comparison)


PAGES = [
    page(1, hole("template", "cn"), cn=Uses(nothing=1)),
    page(2, hole("template", "coord"), hole("no-end"), coord=Uses(1, 1, 0), cn=Uses(notes=2)),
    page(3, reason="too-long"),
    page(4, hole("unknown-value", "area")),
]


def test_the_summary() -> None:
    summary = AuditReport(PAGES).summary()
    assert summary["pages"] == {"drawn": 4, "audited": 3, "too-long": 1}
    assert (summary["paragraphs"], summary["words"]) == (300, {"in_source": 150, "in_text": 120})
    found = {kind: counts["count"] for kind, counts in summary["holes"].items() if counts["count"]}
    # {{cn}} is a note on other pages.
    assert found == {"template": 1, "no-end": 1, "unknown-value": 1, "all": 2}
    assert summary["holes"]["all"]["per_1000_paragraphs"] == 6.67
    assert summary["templates"] == [
        {
            "template": "coord",
            "holes": 1,
            "classes": {"template": 1},
            "shown": 1,
            "nothing": 1,
            "for_example_in": "Page 2",
        }
    ]
    assert summary["worst_pages"] == [{"page_id": 2, "title": "Page 2", "holes": 2}]


def test_the_order_of_pages_makes_no_difference() -> None:
    one, other = AuditReport(PAGES), AuditReport(PAGES[::-1])
    assert one.summary() == other.summary()
    assert list(one.rows()) == list(other.rows())
    assert list(one.template_rows()) == list(other.template_rows())
    assert one.html("uk") == other.html("uk")


def test_rows_have_the_columns() -> None:
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in AuditReport(PAGES).rows()]
    assert [row["class"] for row in rows] == ["template", "no-end", "unknown-value"]


def test_what_became_of_templates() -> None:
    assert list(AuditReport(PAGES).template_rows()) == [
        ("cn", 0, 1, 2, "yes"),
        ("coord", 1, 1, 0, "no"),
    ]


def test_the_page_shows_markup_as_text() -> None:
    shown = AuditReport([page(1, hole("template", "<script>"))]).html("uk")
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert "://" not in shown
    assert shown.startswith(make_head("Audit of uk", language="uk"))  # the style of all pages


def test_nothing_was_drawn() -> None:
    report = AuditReport([])
    assert report.summary()["holes"]["all"] == {"count": 0, "per_1000_paragraphs": 0.0}
    assert report.html("uk").endswith("</html>\n")

from pathlib import Path

from corpusmill.transforms.wikipedia.audit_pages import write_headings
from corpusmill.transforms.wikitext.sections import HeadingCounts, LearnedHeading

HEADER = (
    "heading\tdropped\tsections\twithout prose\twith notes\twith sources\twith links\twith lists"
    "\twith templates\tfor example in\n"
)


def test_headings_are_listed_with_what_is_under_them(tmp_path: Path) -> None:
    learned = [
        LearnedHeading("=also", False, HeadingCounts(40, 40, 1, 20, 10, 5, 3, 1, "@A\tB")),
        LearnedHeading("книги", True, HeadingCounts(8, 8, 0, 0, 8, 0, 0, 0, "В")),
    ]
    file = write_headings(learned, str(tmp_path))
    assert (file.name, file.format, file.records) == ("learned-headings.tsv", "tsv", 2)
    assert (tmp_path / file.name).read_text("utf-8") == (
        f"{HEADER}'=also\tat every level\t40\t97.5%\t20\t10\t5\t3\t1\t'@A B\n"
        "книги\tat level 1 and 2\t8\t100.0%\t0\t8\t0\t0\t0\tВ\n"
    )


def test_with_nothing_learned_there_is_a_head(tmp_path: Path) -> None:
    file = write_headings([], str(tmp_path))
    assert (tmp_path / file.name).read_text("utf-8") == HEADER

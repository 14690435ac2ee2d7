from pathlib import Path

from corpusmill.transforms.books.publication_dates import BookEvidence, PublicationDate
from corpusmill.transforms.books.screen_books import ListDates
from tests.tools.run_pipeline import run_transform

EVIDENCE = [
    BookEvidence(90_010, "Hen\tand\nDuck", 0, (PublicationDate(1905, "copyright", "exact"),)),
    BookEvidence(90_009, "Duck", 1899, ()),
    BookEvidence(90_011, "Goose", 0, (PublicationDate(1898, "author-death", "bound"),)),
]


def test_books_are_listed_by_their_numbers_and_counted(tmp_path: Path) -> None:
    listed = run_transform(ListDates(str(tmp_path)), EVIDENCE).elements
    (file,) = listed["files"]
    assert (tmp_path / file.name).read_text("utf-8").splitlines() == [
        "book_id\ttitle\tyear\tlatest_year\tsource\tconfidence\treleased_year\tevidence",
        "90009\tDuck\t\t\t\t\t1899\t",
        "90010\tHen and Duck\t1905\t\tcopyright\texact\t\tcopyright 1905 exact",
        "90011\tGoose\t\t1898\tauthor-death\tbound\t\tauthor-death 1898 bound",
    ]
    assert listed["facts"] == [
        (
            "dates",
            {
                "dated_by": {"copyright": 1, "nothing": 1},
                "latest_year_by": {"author-death": 1},
                "without_released_years": {"undated": 1},
            },
        )
    ]

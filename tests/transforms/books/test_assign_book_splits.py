from tests.makers.made_books import make_dated
from tests.tools.run_pipeline import run_transform
from transforms.books.assign_book_splits import AssignBookSplits
from transforms.text.books.pg19_rows import Membership


def test_every_book_is_in_the_split_of_its_id() -> None:
    books = [make_dated(book_id=number) for number in range(90_001, 90_101)]
    split_of = Membership("hash", {90_001: "test", 90_002: "validation"}).split_of
    assigned = run_transform(AssignBookSplits(split_of), books).elements["main"]
    assert sorted(assigned, key=lambda pair: pair[1].book.book_id) == [
        (split_of(dated.book.book_id), dated) for dated in books
    ]
    assert {split for split, _ in assigned} == {"train", "validation", "test"}
    assert ("test", books[0]) in assigned
    assert ("validation", books[1]) in assigned

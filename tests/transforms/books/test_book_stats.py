from corpusmill.transforms.books.book_accounts import (
    BookStats,
    add_book_stats,
    identity_of,
    measure_book,
)


def test_a_book_is_counted() -> None:
    assert measure_book("Дві\u00a0 книги,\n\nй усе.\n") == BookStats(1, 4, 20, 33, 3)
    assert measure_book("") == BookStats(1, 0, 0, 0)


def test_counts_add_up() -> None:
    assert add_book_stats([BookStats(1, 2, 3, 4), BookStats(10, 20, 30, 40)]) == BookStats(
        11, 22, 33, 44
    )
    assert add_book_stats([]) == BookStats()


def test_identity() -> None:
    assert identity_of(84) == "gutenberg:84"

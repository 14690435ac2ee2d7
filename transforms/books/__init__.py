"""Books of Project Gutenberg: catalogue, dates, stripping, screening, and the choice of SimpleBooks.

In: files of books, the catalogue, and the list of the PG-19 release. Out: stripped, dated, screened books
and their rows. The word lists are TOML tables. Knows transforms/files, duplicates and models.

Modules that use Beam: book_rows, count_book_vocabulary, gather_books, read_books, read_catalog, screen_books,
select_books, take_simplest
"""

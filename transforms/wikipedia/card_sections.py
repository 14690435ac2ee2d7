"""Writes the sections of a Wiki-40B dataset card about people and about licences."""

from corpusmill.transforms.wikipedia.row_columns import CC_BY_SA_4_SINCE


def say_people(articles: int, people: int | None) -> list[str]:
    """Returns the lines of the dataset card about people.

    Args:
      articles: number of articles in the build.
      people: number of articles about a person; None if the classes of Wikidata items are unknown.
    """
    if people is None:
        counted = "The number of articles about a person is not known without an entity table."
    else:
        counted = (
            f"Articles about a person (Wikidata Q5), living or dead: {people:,} of {articles:,}."
        )
    return [
        "",
        "## People",
        "",
        f"{counted} Their text is that of Wikipedia on the date of the dump; it may have been corrected"
        " or deleted since. Other articles also name people. Nothing was made anonymous; user names and"
        " talk pages are not in the text.",
        "",
        "To leave out articles, list their Wikidata items or pages, one per line (`Q42`, `ukwiki:1088`),"
        " and build with `--leave-out LIST`. Articles that were left out are counted as `leave-out/listed`,"
        " and the manifest has the SHA-256 of the list.",
    ]


def say_licenses(has_column: bool) -> list[str]:
    """Returns the lines of the dataset card about licences.

    The licence of an article depends on the date of its revision. `has_column` is True if the rows of the
    build have a column `license`.
    """
    which = (
        "The column `license` has that of each row, and `url` the revision, whose history names the authors."
        if has_column
        else "`version_id` names the revision, `https://<language>.wikipedia.org/w/index.php?oldid=<version_id>`;"
        " its history has its date and names the authors. With `--columns full`, each row has its licence and"
        " address."
    )
    return [
        "",
        "## Licence",
        "",
        f"Revisions saved on {CC_BY_SA_4_SINCE} or later were published under CC BY-SA 4.0, earlier ones"
        f" under CC BY-SA 3.0 and the GFDL. {which}",
    ]

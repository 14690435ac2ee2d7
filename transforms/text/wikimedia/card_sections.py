"""Sections of the card of a Wiki-40B build: people, and licences of rows."""

from transforms.text.wikimedia.row_columns import CC_BY_SA_4_SINCE


def say_people(articles: int, people: int | None) -> list[str]:
    """Returns the section on people.

    `people` is the number of articles about a person, None if classes are not known.
    """
    if people is None:
        counted = "How many articles are about a person is not known without an entity table."
    else:
        counted = (
            f"Of {articles:,} articles {people:,} are about a person (Wikidata Q5), living or dead."
        )
    return [
        "",
        "## People",
        "",
        f"{counted} What such articles say is what Wikipedia had published on the date of the dump; it may"
        " have been corrected or deleted since. Other articles name people, too. Nothing was made anonymous;"
        " user names and talk pages are not in the text.",
        "",
        "To have an article left out, list its Wikidata item or its page, a line each (`Q42`,"
        " `ukwiki:1088`), and build with `--leave-out LIST`. Each that is found is counted as"
        " `leave-out/listed`, and the manifest has the SHA-256 of the list.",
    ]


def say_licenses(has_column: bool) -> list[str]:
    """Returns the section on licences, which depend on the date of the revision. `has_column`: rows have a
    column `license`.
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
        f"A revision saved from {CC_BY_SA_4_SINCE} on was published under CC BY-SA 4.0, an earlier one under"
        f" CC BY-SA 3.0 and the GFDL. {which}",
    ]

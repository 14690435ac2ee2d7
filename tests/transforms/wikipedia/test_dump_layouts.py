import pytest

from corpusmill.transforms.wikipedia.dump_folder import date_in_names


@pytest.mark.parametrize(
    ("names", "date"),
    [
        (["a/elwiki-20261101-page_props.sql.gz"], "20261101"),
        (["elwiki-2026-11-01-p1p5.xml.bz2", "elwiki-2026-11-01-p6p9.xml.bz2"], "20261101"),
        (["wikidatawiki-20261101-wb_items_per_site.sql.gz"], "20261101"),
        (["elwiki-20261101-a.xml", "elwiki-20261001-b.xml"], ""),
        (["elwiki-20261101-a.xml", "b.xml"], ""),
        (["elwiki-latest-page_props.sql.gz"], ""),
        (["elwiki-20261341-page_props.sql.gz"], ""),
        (["elwiki-sample-page_props.sql.gz"], ""),
        ([], ""),
    ],
)
def test_the_date_in_names(names: list[str], date: str) -> None:
    assert date_in_names(names) == date

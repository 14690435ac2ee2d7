import pytest

from corpusmill.transforms.translation.passages import Quota
from corpusmill.transforms.translation.selection import select
from corpusmill.transforms.translation.source_accounts import (
    count_licences,
    hub_license,
    hub_licenses,
)
from tests.tools.case_tables import read_cases
from tests.transforms.translation.test_selection import candidate


@pytest.mark.parametrize(
    ("licence", "expected"),
    read_cases("translation/licences", "licences"),
)
def test_the_name_of_a_licence_on_the_hub(licence: str, expected: str) -> None:
    assert hub_license(licence) == expected


def test_licences_of_sentences_are_counted_and_named_once() -> None:
    given = [("CC0", 5), ("cc0 1.0", 3), ("My | own", 4)]
    candidates = [
        candidate(number, length)._replace(licence=licence)
        for number, (licence, length) in enumerate(given)
    ]
    quotas = {("wikinews", "dev"): Quota(3, 12)}
    sentences = select(candidates, quotas).sentences
    assert hub_licenses(sentences) == ["cc0-1.0", "other"]
    assert hub_licenses([one for one in sentences if one.licence == "CC0"]) == "cc0-1.0"
    assert sorted(count_licences(sentences)) == [("CC0", 5), (r"My \| own", 4), ("cc0 1.0", 3)]
    plain = select([candidate(1, 4)], {("wikinews", "dev"): Quota(1, 4)}).sentences
    assert (hub_licenses(plain), count_licences(plain)) == ("", [])

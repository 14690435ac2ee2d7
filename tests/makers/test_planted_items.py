"""The truth that is planted is true."""

import pytest

from tests.makers.planted_items import KINDS, plant_items

TEXTS = [" ".join(f"t{number}w{place}" for place in range(20)) for number in range(60)] + [
    f"s{number} is short" for number in range(20)
]
DOCUMENTS = [" ".join(f"d{number}w{place}" for place in range(30)) for number in range(40)]


def test_items_are_where_the_truth_says() -> None:
    made = plant_items(TEXTS, DOCUMENTS, planted=35, others=14)
    assert made == plant_items(TEXTS[::-1], DOCUMENTS, planted=35, others=14)
    planted = [item for item in made.items if item.kind]
    assert [sum(item.kind == kind for item in planted) for kind in KINDS] == [5] * 7
    assert all(item.put in made.documents[item.document] for item in planted)
    assert len({item.text for item in made.items}) == len(made.items) == 49
    assert sum(a != b for a, b in zip(made.documents, DOCUMENTS, strict=True)) == 35
    absent = {word for item in made.items if not item.kind for word in item.text.split()}
    assert not (absent - {"is", "short"}) & set("\n".join(made.documents).split())


@pytest.mark.parametrize(("planted", "others"), [(41, 0), (0, 80)])
def test_too_few_texts_or_documents_are_an_error(planted: int, others: int) -> None:
    with pytest.raises(ValueError, match=r"items for|too few"):
        plant_items(TEXTS, DOCUMENTS, planted, others)

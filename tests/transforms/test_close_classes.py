import itertools

from tests.transforms.run_pipeline import run_transform
from transforms.close_classes import CloseOverSubclasses, InternalClasses, subclass_edges
from transforms.text.wikimedia.class_tree import INTERNAL_ROOTS
from transforms.text.wikimedia.wikidata_json import Entity


def class_of(qid: str, *above: str) -> Entity:
    return Entity(qid, (), above, ())


def close(entities: list[Entity]) -> InternalClasses:
    (closed,) = run_transform(CloseOverSubclasses(), entities).elements["main"]
    assert isinstance(closed, InternalClasses)
    return closed


TREE = [
    class_of("Q1001", "Q17442446", "Q1002"),
    class_of("Q1002", "Q1001"),  # a ring
    class_of("Q1003", "Q1002"),
    class_of("Q1004", "Q35120", "Q4167410"),
    class_of("Q1005", "Q35120"),
    Entity("Q1006", ("Q1001",), (), ()),  # an instance is no class
]


def test_classes_below_the_roots_by_any_way() -> None:
    closed = close(TREE)
    assert closed.all == INTERNAL_ROOTS | {"Q1001", "Q1002", "Q1003", "Q1004"}
    assert closed.disambiguation == {"Q4167410", "Q1004"}


def test_the_order_of_the_dump_does_not_matter() -> None:
    expected = close(TREE)
    for order in itertools.islice(itertools.permutations(TREE), 1, 700, 233):
        assert close(list(order)) == expected


def test_without_classes_the_roots_are_known() -> None:
    assert close([]) == InternalClasses(INTERNAL_ROOTS, frozenset({"Q4167410"}))


def test_edges_are_numbers() -> None:
    assert list(subclass_edges(TREE[0])) == [(1001, 17442446), (1001, 1002)]

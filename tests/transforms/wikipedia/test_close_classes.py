import itertools

import numpy

from corpusmill.transforms.wikipedia.entity_table import INTERNAL_ROOTS, kinds_of
from corpusmill.transforms.wikipedia.make_entity_table import (
    CloseOverSubclasses,
    stack_edges,
    subclass_edges,
)
from corpusmill.transforms.wikipedia.wikidata import Entity
from tests.tools.run_pipeline import run_transform


def class_of(numeric_id: int, *above: int) -> Entity:
    return Entity(numeric_id, (), above, ())


def close(*batches: list[Entity]) -> dict[int, str]:
    (closed,) = run_transform(CloseOverSubclasses(), batches).elements["main"]
    assert isinstance(closed, dict)
    return closed


TREE = [
    class_of(1001, 17442446, 1002),
    class_of(1002, 1001),  # a ring
    class_of(1003, 1002, 13406463),
    class_of(1004, 35120, 4167410),
    class_of(1005, 35120),
    Entity(1006, (1001,), (), ()),  # an instance is no class
]
CLOSED = INTERNAL_ROOTS | {
    1001: "internal",
    1002: "internal",
    1003: "list",
    1004: "disambiguation",
}


def test_classes_below_the_roots_by_any_way() -> None:
    assert close(TREE) == CLOSED


def test_batches_and_the_order_of_the_dump_do_not_matter() -> None:
    for order in itertools.islice(itertools.permutations(TREE), 1, 700, 233):
        assert close([*order[:1]], [], [*order[1:4]], [*order[4:]]) == CLOSED


def test_what_several_workers_gather_comes_together() -> None:
    gathered = [stack_edges(subclass_edges(items)) for items in (TREE[::2], TREE[1::2], [])]
    assert kinds_of(*stack_edges([stack_edges(gathered[:2]), gathered[2]]).T) == CLOSED


def test_without_classes_the_roots_are_known() -> None:
    assert close() == close([]) == close([TREE[5]]) == INTERNAL_ROOTS


def test_the_edges_of_a_batch_are_one_array_of_numbers() -> None:
    (edges,) = subclass_edges(TREE[:2])
    assert edges.dtype == numpy.int64
    assert edges.tolist() == [[1001, 17442446], [1001, 1002], [1002, 1001]]
    assert not list(subclass_edges([TREE[5]]))

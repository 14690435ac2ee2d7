import pytest

from corpusmill.transforms.books.select_books import Plan, plan_parts


@pytest.mark.parametrize(
    ("size", "sample", "plan"),
    [
        ((0, 0), 1, Plan(16, 1)),
        ((255, 1 << 21), 1, Plan(16, 1)),
        ((75_000, 5_000_000_000), 1, Plan(2385, 293)),
        ((75_000, 5_000_000_000), 16, Plan(150, 293)),
        ((7_500_000, 500_000_000_000), 1, Plan(1 << 14, 29297)),
    ],
)
def test_the_plan_follows_the_size(size: tuple[int, int], sample: int, plan: Plan) -> None:
    assert plan_parts(size, sample) == plan

from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books.text_screening import take_samples


@given(st.text(max_size=60), st.integers(1, 6), st.integers(1, 12))
def test_samples_are_parts_in_their_order(text: str, number: int, characters: int) -> None:
    samples = take_samples(text, number, characters)
    assert len(samples) <= number
    if len(text) <= number * characters:
        assert "".join(samples) == text
        return
    assert [len(sample) for sample in samples] == [characters] * number
    assert text.startswith(samples[0])
    if number > 1:
        assert text.endswith(samples[-1])


def test_samples_are_spread_evenly() -> None:
    text = "".join(chr(0x4E00 + place) for place in range(100))
    starts = [text.index(sample) for sample in take_samples(text, 4, 10)]
    assert starts == [0, 30, 60, 90]

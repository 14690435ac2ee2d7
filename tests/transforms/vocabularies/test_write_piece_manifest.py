import pytest

from transforms.text.builds.build_manifest import AccountingError
from transforms.text.vocabularies.sentence_choice import Choice
from transforms.text.vocabularies.temperature_sampling import Share
from transforms.vocabularies.write_piece_manifest import check_sampled

CHOICES = {
    "el": Choice(Share(0, 0.0, 0), 0, 0, 0),
    "uk": Choice(Share(9, 1.0, 4), 5, 1, 0),
}


def test_as_many_are_sampled_as_were_to_be() -> None:
    check_sampled(CHOICES, {"uk": 4})
    check_sampled(CHOICES, {"uk": 4, "el": 0})


@pytest.mark.parametrize("sampled", [{}, {"uk": 3}, {"uk": 4, "el": 1}])
def test_otherwise_the_accounts_are_wrong(sampled: dict[str, int]) -> None:
    with pytest.raises(AccountingError, match=r"sentences of (uk|el) are sampled"):
        check_sampled(CHOICES, sampled)

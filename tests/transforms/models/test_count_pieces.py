import gzip
from pathlib import Path

import pytest

from corpusmill.transforms.models.model_accounts import HELD_OUT_KIND
from corpusmill.transforms.models.read_sentences import CountPieces, EvaluationFile, SentenceBlock
from corpusmill.transforms.models.sentence_sampling import Choice, Share, rank_sentences
from corpusmill.transforms.models.subword_models import PieceCounter, PieceStats, TrainedPieces
from tests.makers.spm_models import SENTENCES, small_model
from tests.makers.subword_inputs import write_lines
from tests.tools.run_pipeline import run_inputs
from tests.transforms.models.test_choose_sentences import block

TRAINED = TrainedPieces(small_model(), 300, 1, 1, 0)
COUNT = PieceCounter(small_model()).count
EN, UK, JA = list(SENTENCES[:2]), list(SENTENCES[2:4]), list(SENTENCES[4:6])


def count(
    blocks: list[SentenceBlock], choices: dict[str, Choice], *files: EvaluationFile
) -> dict[tuple[str, str], PieceStats]:
    outcome = run_inputs(
        lambda made, trained, chosen: made | CountPieces(trained, chosen, files),
        **{"made": blocks, "trained": [TRAINED], "chosen": [choices]},
    )
    return dict(outcome.elements["main"])


def test_held_out_splits_and_sentences_and_evaluated_lines(tmp_path: Path) -> None:
    ranks = rank_sentences(EN, 3).tolist()
    share = Share(2, 0.5, 1)
    choices = {
        "en": Choice(share, 0, 0, max(ranks)),  # the second of them is held out
        "uk": Choice(share, 0, 0, 1 << 64),
        "ja": Choice(share, 0, 0, 1 << 64),
    }
    blocks = [
        block(tmp_path, "en", EN),
        block(tmp_path, "uk", UK),
        block(tmp_path, "ja", JA[:1]),
        block(tmp_path, "ja", JA[1:], is_held_out=True),
    ]
    plain = write_lines(tmp_path / "a.dev", [f" {UK[0]} ", "", UK[1]])
    packed = write_lines(tmp_path / "b.gz", EN)
    stats = count(
        blocks, choices, EvaluationFile("uk", str(plain)), EvaluationFile("uk", str(packed))
    )
    assert stats == {
        (HELD_OUT_KIND, "en"): COUNT([EN[ranks.index(max(ranks))]]),
        (HELD_OUT_KIND, "ja"): COUNT(JA[1:]),
        ("evaluated", "uk"): COUNT([*UK, "", *EN]),
    }
    assert stats["evaluated", "uk"].lines == 5


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"abc\n\xff\n", "byte 4: not UTF-8"),
        (gzip.compress(b"abc\n", mtime=0)[:-1], "byte 0: damaged or truncated"),
    ],
)
def test_a_file_that_is_no_text(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.dev").write_bytes(content)
    with pytest.raises(Exception, match=rf"InputError.*a\.dev, {message}"):
        count([], {}, EvaluationFile("uk", str(tmp_path / "a.dev")))

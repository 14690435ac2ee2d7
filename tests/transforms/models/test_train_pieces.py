from pathlib import Path

import pytest

from corpusmill.transforms.files.line_blocks import block_of
from corpusmill.transforms.files.scratch import Scratch
from corpusmill.transforms.models.subword_models import PieceSettings, train_pieces, vocabulary_of
from corpusmill.transforms.models.train_pieces import TrainPieces, write_pieces
from corpusmill.transforms.models.word_vocabulary import count_words, cut_by_bucket, pack_counts
from tests.makers.spm_models import SENTENCES
from tests.tools.run_pipeline import run_transform

SETTINGS = PieceSettings(300)
COUNTS = count_words(block_of([sentence.encode() for sentence in SENTENCES]))
PARTS = dict(cut_by_bucket(COUNTS, 5))


def test_training_on_buckets_in_any_order(tmp_path: Path) -> None:
    scratch = Scratch(str(tmp_path))
    packed = [(bucket, scratch.put(pack_counts(part))) for bucket, part in PARTS.items()]
    expected = train_pieces([PARTS[bucket] for bucket in sorted(PARTS)], SETTINGS)
    for order in (packed, packed[::-1]):
        outcome = run_transform(TrainPieces(SETTINGS), order)
        assert outcome.elements["main"] == [expected]
        assert outcome.counters == {
            "train-pieces/begun": COUNTS.num_rows,
            "train-pieces/words": COUNTS.num_rows,
        }


def test_what_cannot_be_trained_is_an_input_error(tmp_path: Path) -> None:
    packed = [(0, Scratch(str(tmp_path)).put(pack_counts(COUNTS)))]
    message = "InputError: cannot train a vocabulary on the sampled text: SentencePiece cannot"
    with pytest.raises(Exception, match=message):
        run_transform(TrainPieces(PieceSettings(20)), packed)


def test_files(tmp_path: Path) -> None:
    trained = train_pieces([COUNTS], SETTINGS)
    (tmp_path / "build").mkdir()
    files = {one.name: one for one in write_pieces(trained, str(tmp_path / "build"))}
    model = (tmp_path / "build" / "sentencepiece.model").read_bytes()
    vocabulary = (tmp_path / "build" / "sentencepiece.vocab").read_text("utf-8")
    assert model == trained.model
    assert vocabulary == vocabulary_of(model)
    assert files.keys() == {"sentencepiece.model", "sentencepiece.vocab"}
    assert files["sentencepiece.model"].records == trained.pieces == vocabulary.count("\n")

"""A small SentencePiece model of texts of our own, in several scripts."""

import functools
import io

import sentencepiece

SENTENCES = (
    "The ferry leaves the harbour at seven every morning.",
    "Nobody had seen the lighthouse keeper since the storm.",
    "Пором відходить із порту о сьомій ранку.",
    "Після бурі ніхто не бачив доглядача маяка.",
    "渡し船は毎朝七時に港を出ます。",
    "嵐のあと、灯台守を見た人はいませんでした。",
    "تغادر العبارة الميناء في السابعة صباحا.",
    "เรือข้ามฟากออกจากท่าทุกเช้าเวลาเจ็ดโมง",
    "नाव हर सुबह सात बजे बंदरगाह से निकलती है।",
    "Le bac quitte le port à sept heures chaque matin.",
    "Die Fähre verlässt jeden Morgen um sieben den Hafen.",
)


@functools.cache
def small_model(size: int = 300) -> bytes:
    """The bytes of a model with so many pieces."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 3),
        model_writer=model,
        vocab_size=size,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
    )
    return model.getvalue()

import hashlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from corpusmill.pipelines.translation.translation_scores import (
    ALWAYS,
    METRICS,
    Group,
    Pieces,
    Task,
    check_is_whole,
    group_lines,
    score_systems,
    signatures,
)
from tests.makers.spm_models import SENTENCES, small_model

REFERENCES = list(SENTENCES)
OUTPUT = [line[:-4] + "!" for line in SENTENCES]
HASH = hashlib.sha256(small_model()).hexdigest()[:8]


def task(*systems: list[str], references: list[str] = REFERENCES, **changes: Any) -> Task:
    plain = Task(references, systems, (), small_model(), "", tuple(METRICS), "0.1.0")
    return plain._replace(**changes)


@pytest.fixture(scope="module")
def sacrebleu_spbleu(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """sacrebleu's own metric, whose model is ours."""
    from sacrebleu.tokenizers import tokenizer_spm

    folder = tmp_path_factory.mktemp("sacrebleu")
    (folder / "models").mkdir()
    (folder / "models" / "sacrebleu_tokenizer_spm.model").write_bytes(small_model())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokenizer_spm, "SACREBLEU_DIR", str(folder))
        return BLEU(tokenize="flores101", force=True)


def test_scores_and_signatures_are_those_of_sacrebleu(sacrebleu_spbleu: Any) -> None:
    [found] = score_systems(task(OUTPUT, model_name="flores101"))
    [corpus] = found.groups
    metrics = {
        "spBLEU": sacrebleu_spbleu,
        "chrF++": CHRF(word_order=2),
        "chrF": CHRF(),
        "BLEU": BLEU(),
    }
    expected = {name: of.corpus_score(OUTPUT, [REFERENCES]) for name, of in metrics.items()}
    assert corpus.scores == {name: score.score for name, score in expected.items()}
    assert 0 < corpus.scores["spBLEU"] < 100
    lines = {name: str(of.get_signature()) for name, of in metrics.items()}
    assert signatures(task(OUTPUT, model_name="flores101")) == lines
    assert found.citations == tuple(
        score.format(width=2, signature=lines[name]) for name, score in expected.items()
    )


texts = st.text(
    st.sampled_from("abеяの港。, .!\u00a0\u2028\u3000\r\t▁ก้") | st.characters(codec="utf-8")
)


@settings(max_examples=60)
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=6))
def test_any_text_is_scored_as_by_sacrebleu(
    sacrebleu_spbleu: Any, pairs: list[tuple[str, str]]
) -> None:
    output, references = [list(side) for side in zip(*pairs, strict=True)]
    [found] = score_systems(task(output, references=references))
    scores = found.groups[0].scores
    assert scores["spBLEU"] == sacrebleu_spbleu.corpus_score(output, [references]).score
    assert scores["chrF++"] == CHRF(word_order=2).corpus_score(output, [references]).score


def test_a_model_of_our_own_is_named_by_its_hash() -> None:
    assert signatures(task(OUTPUT)) == {
        "spBLEU": f"nrefs:1|case:mixed|eff:no|tok:spm-{HASH}|smooth:exp|corpusmill:0.1.0|version:2.6.0",
        "chrF++": "nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:2.6.0",
        "chrF": "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0",
        "BLEU": "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0",
    }


def test_what_is_the_same_has_all_points_and_what_shares_nothing_none() -> None:
    same, other = score_systems(task(REFERENCES, ["Ω"] * len(REFERENCES)))
    assert same.groups[0].scores == pytest.approx(dict.fromkeys(METRICS, 100.0))
    assert other.groups[0].scores == dict.fromkeys(METRICS, 0.0)


def test_groups_are_scored_as_if_they_were_all_there_is() -> None:
    places = (1, 4, 5, 9)
    of_group = score_systems(task(OUTPUT, groups=[Group("domain", "x", places)]))[0].groups[1]
    alone = task([OUTPUT[p] for p in places], references=[REFERENCES[p] for p in places])
    assert of_group.scores == score_systems(alone)[0].groups[0].scores
    assert (of_group.kind, of_group.name, of_group.sentences) == ("domain", "x", 4)


def test_several_systems_do_not_touch_each_other() -> None:
    shorter = [line[:9] for line in SENTENCES]
    both = score_systems(task(OUTPUT, shorter))
    assert both == [*score_systems(task(OUTPUT)), *score_systems(task(shorter))]
    assert both[0] != both[1]


def test_only_the_metrics_that_are_asked_for() -> None:
    [found] = score_systems(task(OUTPUT, metrics=ALWAYS))
    assert list(found.groups[0].scores) == ["spBLEU", "chrF++"]
    assert len(found.citations) == 2


def test_groups_by_domain_and_topic() -> None:
    found = group_lines(
        ["wikinews", "wikibooks", "wikinews "], ["Travel", "crime  and law", " travel"]
    )
    assert found == [
        Group("domain", "wikibooks", (1,)),
        Group("domain", "wikinews", (0, 2)),
        Group("topic", "crime and law", (1,)),
        Group("topic", "travel", (0, 2)),
    ]


@pytest.mark.parametrize("data", [b"", b"no model", small_model()[:101]])
def test_no_model(data: bytes) -> None:
    with pytest.raises(ValueError, match="not a SentencePiece model"):
        Pieces(data)


def test_a_model_that_ends_behind_a_piece_is_not_whole() -> None:
    model = small_model()
    check_is_whole(model)
    taken = [end for end in range(1000, 1200) if is_model(model[:end])]  # by sentencepiece
    assert len(taken) > 10
    for end in taken:
        with pytest.raises(ValueError, match="the end of the SentencePiece model is missing"):
            check_is_whole(model[:end])


def is_model(data: bytes) -> bool:
    try:
        return Pieces(data).count > 0
    except ValueError:
        return False

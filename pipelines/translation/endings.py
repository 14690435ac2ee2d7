"""Checks that translations of questions and exclamations end with a question or exclamation mark."""

from collections.abc import Iterator, Sequence

from corpusmill.pipelines.translation.languages import TargetLanguage
from corpusmill.pipelines.translation.pairs import WARNING, Pair
from corpusmill.transforms.files.translation_records import Finding

_QUESTION_MARKS = "?？؟՞፧⁇⁈⁉︖﹖" + "\u037e"
_EXCLAMATION_MARKS = "!！՜߹᥄︕﹗⁈⁉"
# Greek, whose question mark is a semicolon; Armenian, whose marks are inside the word; and the languages
# without such marks.
_SEMICOLON = "el"
_INSIDE_THE_WORD = "hy"
_UNMARKED = frozenset("lo my th km".split())
_CLOSING = "\"'“”‘’„»«›‹」』）)]】*।. \t\u00a0\u202f\u200b\u200e\u200f"


def find_other_endings(pairs: Sequence[Pair], language: TargetLanguage) -> Iterator[Finding]:
    """Yields a warning `ending-differs` for each translation that lacks the final "?" or "!" of its source.

    Equivalent marks of other scripts are accepted.
    """
    tag = language.tag.split("-")[0]
    if tag in _UNMARKED:
        return
    question_marks = _QUESTION_MARKS + (";" if tag == _SEMICOLON else "")
    kinds = (
        ("?", question_marks, "is a question", "a question mark"),
        ("!", _EXCLAMATION_MARKS, "ends with an exclamation mark", "one"),
    )
    for pair in pairs:
        source, target = pair.source.text.rstrip(_CLOSING), pair.translation.text.rstrip(_CLOSING)
        end = target if tag == _INSIDE_THE_WORD else target[-1:]
        for sign, marks, what, lacking in kinds:
            if source.endswith(sign) and not set(end) & set(marks):
                message = f"the source {what}, but the translation ends without {lacking}"
                yield pair.finding("ending-differs", WARNING, message)

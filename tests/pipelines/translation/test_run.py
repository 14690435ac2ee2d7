import pathlib
import re

import pytest

from corpusmill.pipelines.translation import run_checks
from corpusmill.pipelines.translation.run_checks import RULES, check_translations
from corpusmill.pipelines.translation.target_languages import find_language
from corpusmill.transforms.files.records import Translation
from tests.pipelines.translation.pair_cases import source
from tests.pipelines.translation.test_swapped_lines import KAMBA, LINES, TRANSLATED
from tests.tools.case_tables import read_cases

CHECKS = pathlib.Path(run_checks.__file__).parent


def test_all_rules_are_listed_once() -> None:
    """Slugs stand in double backquotes of the docstrings of the checks."""
    texts = [path.read_text("utf-8") for path in CHECKS.glob("*.py")]
    slugs = {
        slug
        for text in texts
        for docstring in re.findall(r'"""(.*?)"""', text, re.DOTALL)
        for slug in re.findall(r"`([a-z]+(?:-[a-z]+)*)`", docstring)
    }
    assert set(RULES) <= slugs
    assert len(set(RULES)) == len(RULES)


def test_each_fault_is_named_by_file_line_and_rule() -> None:
    sources = [source(text, place) for place, text in enumerate(LINES, 1)]
    sources[3] = source("In 1945 they came to www.a.org?", 4)
    texts = dict(zip((sentence.id for sentence in sources), TRANSLATED, strict=True))
    texts["devtest-0002"] = ""
    words = TRANSLATED[3].split()
    texts["devtest-0004"] = f'{words[0]} ""{words[1]}"" \u200b{words[2]}&nbsp;{words[3]} '
    texts["devtest-0010"], texts["devtest-0011"] = texts["devtest-0011"], texts["devtest-0010"]
    texts["devtest-0020"] = texts["devtest-0030"]
    texts["devtest-0040"] = LINES[39]
    del texts["devtest-0007"]
    translations = {
        id: Translation(id, text, "kam.devtest", int(id[-4:])) for id, text in texts.items()
    }
    findings = check_translations(sources, translations, KAMBA)
    named = [(finding.line, finding.rule, finding.severity) for finding in findings]
    assert list(map(list, named)) == read_cases("translation/released", "named")
    assert {finding.file for finding in findings} == {"", "kam.devtest"}
    assert all(finding.message and "\n" not in finding.message for finding in findings)
    reordered = dict(reversed(translations.items()))
    assert check_translations(sources, reordered, KAMBA) == findings


def test_nothing_is_nothing() -> None:
    assert check_translations([], {}, find_language("fra")) == []


def test_a_faultless_one_has_no_findings() -> None:
    sources = [source("The bird sings in the old tree.", 1), source("It is late.", 2)]
    translations = {
        "devtest-0001": Translation("devtest-0001", "Der Vogel singt im alten Baum.", "f", 1),
        "devtest-0002": Translation("devtest-0002", "Es ist spät.", "f", 2),
    }
    assert check_translations(sources, translations, find_language("deu")) == []


@pytest.mark.parametrize(
    ("code", "form", "rules"),
    [
        ("deu", "{place}. {text}", ["list-numbers"]),
        ("deu", "**{text}**", ["markup"]),
        ("dyu", "{text}", ["wrong-language"]),
        ("kam", "{kamba}", []),
    ],
)
def test_a_fault_of_half_of_the_lines_is_one_error(code: str, form: str, rules: list[str]) -> None:
    german = (
        "Der alte Vogel singt am Morgen im Baum hinter dem Haus und fliegt danach weg ({word})."
    )
    sources = [source(text, place) for place, text in enumerate(LINES, 1)]
    translations = {
        one.id: Translation(
            one.id,
            form.format(place=place, text=german.format(word=kamba.split()[0]), kamba=kamba),
            "f",
            place,
        )
        for place, (one, kamba) in enumerate(zip(sources, TRANSLATED, strict=True), 1)
    }
    findings = check_translations(sources, translations, find_language(code))
    errors = [one.rule for one in findings if not one.id and one.severity == "error"]
    assert [rule for rule in errors if rule != "length-ratio"] == rules
    assert not [one for one in findings if one.id and one.rule in rules]

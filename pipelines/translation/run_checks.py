"""Runs all automatic checks of the translations into one language.

The checks search for faults that were found in released versions of the benchmark. The module of each check
names the data on which it was tested.
"""

from collections.abc import Iterator, Mapping, Sequence

from corpusmill.transforms.files.markup import read_toml
from corpusmill.transforms.files.records import Finding, SourceSentence, Translation
from corpusmill.transforms.files.text import grouped

from . import check_characters, check_numbers, sentence_pairs, swapped_lines, wrong_language
from .sentence_pairs import ERROR, Pair
from .target_languages import TargetLanguage

# Texts with these errors are in another language or belong to another sentence. They are left out of the
# search for swapped lines, which they would mislead.
# an error of one of these rules implies errors of the rules after it
_FOREIGN = ("source-copy", "wrong-script", "wrong-language")
_NO_TRANSLATION = frozenset({*_FOREIGN, "empty", "duplicate", "dev-devtest-overlap"})

RULES = tuple(  # names of all checks, in the order of the findings about one sentence
    "missing unknown-id list-numbers empty source-copy wrong-script wrong-language swapped-lines duplicate"
    " dev-devtest-overlap length-ratio numbers-differ urls-differ doubled-quotes unbalanced-quotes"
    " html-entities markup mojibake notes alternatives not-nfc unicode-variants outer-blanks inner-blanks"
    " ending-differs".split()
)


def check_translations(
    sources: Sequence[SourceSentence],
    translations: Mapping[str, Translation],
    language: TargetLanguage,
) -> list[Finding]:
    """Runs all checks. Returns the findings, sorted by the order of the sources, then by the order of RULES.

    If half of the lines have findings of a rule, they are replaced by one error about the whole file, which
    has no id and is the last.

    `translations` maps the ids of source sentences to translations. It should cover all sources: some checks
    learn from the whole file. These checks need at least 100 lines, and are less reliable on a part of a
    file.
    """
    findings = [*sentence_pairs.find_missing(sources, translations)]
    pairs = [Pair(one, translations[one.id]) for one in sources if one.id in translations]
    findings += sentence_pairs.find_empty(pairs)
    filled = [pair for pair in pairs if not sentence_pairs.is_empty(pair)]
    for in_any_language in (
        check_characters.find_changed_addresses,
        check_characters.find_decomposed,
        check_characters.find_doubled_quotes,
        check_characters.find_patterns,
        check_characters.find_wrong_encodings,
        wrong_language.find_odd_lengths,
        check_characters.find_outer_blanks,
        sentence_pairs.find_repeats,
    ):
        findings += in_any_language(filled)
    for in_language in (
        sentence_pairs.find_copies,
        wrong_language.find_foreign_lines,
        check_numbers.find_lost_numbers,
        check_characters.find_odd_characters,
        check_characters.find_other_endings,
        wrong_language.find_wrong_scripts,
    ):
        findings += in_language(filled, language)
    numbered = {finding.id for finding in findings if finding.rule == "list-numbers"}
    findings = [
        finding
        for finding in _without_implied(findings)
        if finding.rule != "numbers-differ" or finding.id not in numbered
    ]
    findings += swapped_lines.find_misplaced(sources, _trusted(translations, findings), language)
    findings = [
        *of_whole_file(findings, len(filled)),
        *wrong_language.find_limits(pairs, language),
    ]
    place_of = {source.id: place for place, source in enumerate(sources)}
    return sorted(
        findings,
        key=lambda finding: (
            place_of.get(finding.id, len(sources)),
            RULES.index(finding.rule),
            finding.message,
            finding.id,
        ),
    )


_MIN_LINES = 10  # in fewer lines, half of them may have the same fault by chance


def of_whole_file(findings: Sequence[Finding], count: int) -> Iterator[Finding]:
    """Replaces the findings of a rule by one error about the whole file, if half of its lines have them.

    The rules are those of the table `whole_file` in fault_patterns.toml. The error has no id.
    """
    causes = read_toml(__package__, "fault_patterns.toml")["whole_file"]
    for rule, found in grouped((finding.rule, finding) for finding in findings).items():
        lines = list(dict.fromkeys(finding.id for finding in found))
        if rule in causes and len(lines) >= max(_MIN_LINES, count / 2):
            first = f"the first is {found[0].id}: {found[0].message}"
            message = f"{len(lines):,} of {count:,} lines: {causes[rule]}; {first}"
            yield Finding("", rule, ERROR, message, "", 0)
        else:
            yield from found


def _without_implied(findings: Sequence[Finding]) -> list[Finding]:
    """Drops findings that are a consequence of another finding about the same line.

    If a line has errors of several of the rules `source-copy`, `wrong-script` and `wrong-language`, only the
    error of the first of these rules is kept.
    """
    reason_of: dict[str, str] = {}
    for rule in reversed(_FOREIGN):
        for finding in findings:
            if finding.rule == rule and finding.severity == ERROR:
                reason_of[finding.id] = rule
    return [
        finding
        for finding in findings
        if finding.rule not in _FOREIGN or reason_of.get(finding.id, finding.rule) == finding.rule
    ]


def _trusted(
    translations: Mapping[str, Translation], findings: Sequence[Finding]
) -> Mapping[str, Translation]:
    """Returns the translations, with the text "" for those that are probably no translation of their source.

    These are the translations with an error of a rule in _NO_TRANSLATION, such as `source-copy`.
    """
    none = {
        finding.id
        for finding in findings
        if finding.rule in _NO_TRANSLATION and finding.severity == ERROR
    }
    return {
        id: translation._replace(text="") if id in none else translation
        for id, translation in translations.items()
    }

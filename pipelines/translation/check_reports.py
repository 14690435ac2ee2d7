"""Prints the results of checks: a table of findings by rule, the first findings, and the next steps."""

from collections import Counter
from collections.abc import Sequence

from corpusmill.pipelines.translation.checks import FINDINGS, Checked
from corpusmill.transforms.files.drawing import count_of, draw, name_some
from corpusmill.transforms.files.translation_records import Finding

SHOWN = 10  # number of findings to print if one language is checked
SHOWN_OF_MANY = 3  # number of findings to print per language if several are checked


def print_checked(checked: Checked, shown: int = SHOWN) -> None:
    """Prints the result of a check: the number of findings for each rule, and the first findings.

    At most `shown` findings are printed, each with its file and line.
    """
    facts = checked.entry.facts
    verdict = "failed" if checked.has_errors else "passed"
    again = "" if checked.is_new else ", nothing has changed since then"
    errors = count_of(facts["errors"], "error")
    warnings = count_of(facts["warnings"], "warning")
    print(
        f"{checked.code}: {verdict}, {errors}, {warnings}, {facts['waived']:,} waived"
        f" (check {checked.entry.name}{again})"
    )
    if not checked.findings:
        return
    _print_rules(checked)
    errors_first = sorted(
        (one.finding for one in checked.findings if not one.waived),
        key=lambda finding: finding.severity,
    )
    for finding in errors_first[:shown]:
        print(f"  {_place(finding)}: {finding.severity}: {finding.rule}: {finding.message}")
    if len(errors_first) > shown:
        print(f"  … and {len(errors_first) - shown:,} more")
    print(f"  all findings: {checked.entry.folder / FINDINGS}")


def _print_rules(checked: Checked) -> None:
    counts = Counter(
        (one.finding.severity, one.finding.rule, bool(one.waived)) for one in checked.findings
    )
    rules = dict.fromkeys((severity, rule) for severity, rule, _ in sorted(counts))
    rows = [
        [rule, severity, f"{counts[severity, rule, False]:,}", f"{counts[severity, rule, True]:,}"]
        for severity, rule in rules
    ]
    print(draw(("rule", "severity", "open", "waived"), rows, numbers=2), end="")


def _place(finding: Finding) -> str:
    where = f"{finding.file}:{finding.line}" if finding.file else ""
    return " ".join(part for part in (where, finding.id) if part) or "all lines"


def print_summary(checked: Sequence[Checked]) -> None:
    """Prints the languages that have passed, and the next steps for the others."""
    failed = [one.code for one in checked if one.has_errors]
    passed = [one.code for one in checked if not one.has_errors]
    if len(checked) > 1:
        print(f"{len(checked):,} languages: {len(passed):,} passed, {len(failed):,} failed")
    if failed:
        print(
            f"next for {name_some(failed)}: `packets` sends the lines with errors back; if a line is"
        )
        print("  correct, accept it with `check --waive ID:RULE`, or many with `--waive-table`")
    if any(one.finding.rule == "disputed" for each in checked for one in each.findings):
        print(SETTLE)


SETTLE = (
    "to settle a disputed line, send it again (`packets`) and import the answer; or, if one of the files is a"
    "\n  correction of the other, use `import FILE --corrects NUMBER` with the number of the wrong import"
)

"""Builds a machine-translation benchmark from human translations.

a benchmark, step by step:
  Packets for the translators of three languages; the first call also makes the project:
    corpusmill flores101 packets --project P --source SOURCE --languages fra,deu,zho_simpl --to outbox
  Import the translations, and send them to another translator for editing:
    corpusmill flores101 import --project P inbox/fra-round1.xlf --by Ama
    corpusmill flores101 packets --project P --languages fra --edit --to outbox
    corpusmill flores101 import --project P inbox/fra-round1-0003-editing.xlf --by Ben
  Check them; lines that fail are sent back with reasons, until none fails:
    corpusmill flores101 check --project P
    corpusmill flores101 packets --project P --languages fra,deu --to outbox
  A translator's correction replaces the earlier lines; findings on correct lines are waived:
    corpusmill flores101 import --project P inbox/fra-corrected.xlf --corrects last
    corpusmill flores101 check --project P --languages fra --waive-table findings-of-fra.tsv --by Eli
  The sample for reviewers, and their results; if the score is too low, `packets` begins a new round:
    corpusmill flores101 review --project P --languages fra --sheets --reviewer Ama --to outbox
    corpusmill flores101 review --project P --import inbox/fra-review-round1-Ama.tsv
  The state of all languages, the journal of one, and the package of all accepted languages:
    corpusmill flores101 status --project P
    corpusmill flores101 status --project P --language fra
    corpusmill flores101 package --project P --output corpora

Files of a project are never changed or deleted: each step adds a folder to languages/<code>/.
"""

import argparse
import inspect
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from ..run.flags import Commands, Flags, add_command, add_output, describe

if TYPE_CHECKING:
    from .project import Project
    from .target_languages import TargetLanguage


ALL = "flores101"  # stands for all languages of the paper
FORMATS = ("xliff", "tsv")
ALL_FORMATS = ("xliff", "xliff1.2", "tsv")


def add(parser: argparse.ArgumentParser, add_source: Callable[[Commands], None]) -> None:
    """Adds the actions of the command `corpusmill flores101` to its parser.

    Args:
      add_source: Adds the first action, which builds the sentences to translate.
    """
    describe(parser, __doc__)
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION")
    add_source(actions)
    for name, what, run, add_flags in (
        ("packets", "write the packets for translators", _run_packets, _add_packets),
        ("import", "import the translators' files", _run_import, _add_import),
        ("check", "check the imported translations", _run_check, _add_check),
        ("review", "write review sheets, and import them", _run_review, _add_review),
        ("status", "show the state of every language", _run_status, _add_status),
        ("package", "write the data set", _run_package, _add_package),
    ):
        action = add_command(actions, name, what, inspect.getdoc(run), run)
        flags = Flags(action)
        flags.text("--project", "DIR", "folder of the project", required=name != "check")
        add_flags(action, flags)


def _add_languages(flags: Flags, default: str = "") -> None:
    help = "comma-separated: fra,zho_simpl; flores101 means all languages of the paper"
    shown = f" (default: {default})" if default else ""
    flags.text("--languages", "CODES", help + shown, required=not default)


def _add_by(flags: Flags, who: str) -> None:
    flags.text("--by", "NAME", f"{who}, for the journal")


def _add_packets(parser: argparse.ArgumentParser, flags: Flags) -> None:
    _add_languages(flags)
    flags.text(
        "--format",
        "NAMES",
        "formats, separated by commas: xliff (2.0), xliff1.2 (for older tools), tsv (default: xliff,tsv)",
        type=_formats,
        default=FORMATS,
    )
    flags.switch("--edit", "send the translations that came back to an editor: another translator")
    flags.text("--to", "FOLDER", "folder for copies of the packets")
    _add_by(flags, "name of the sender")
    made = Flags(parser, "to make a new project")
    made.text(
        "--source",
        "PATH",
        "the sentences: source.tsv, a build that contains it, or a released data set with eng.devtest and"
        " metadata; makes the project",
    )
    made.text("--name", "NAME", "name of the project (default: flores101)", default=None)
    made.number("--seed", "seed that selects the sentences to review (default: 0)")
    share = "share of the sentences to review (default: 0.20)"
    made.number("--review-share", share, type=_fraction, metavar="X")
    made.number(
        "--accepted-score",
        "quality score, of 100, from which a language is accepted (default: 90)",
        type=_fraction,
        metavar="X",
    )


def _formats(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    if unknown := [name for name in names if name not in ALL_FORMATS]:
        known = ", ".join(ALL_FORMATS)
        raise argparse.ArgumentTypeError(f"no such format: {','.join(unknown)!r}; known: {known}")
    return names


def _fraction(text: str) -> Fraction:
    if not re.fullmatch(r"\d+(\.\d+)?(/\d*[1-9]\d*)?", text, re.ASCII):
        message = f"must be a number or a fraction such as 1/5, got {text!r}"
        raise argparse.ArgumentTypeError(message)
    number, _, divisor = text.partition("/")
    return Fraction(number) / int(divisor or 1)


def _add_import(parser: argparse.ArgumentParser, flags: Flags) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="files, or folders with files")
    flags.text("--language", "CODE", "language of files that do not contain its code")
    flags.text(
        "--corrects",
        "NUMBER",
        "the files correct the import with this number (printed by status --language), or the last import"
        " of the same lines (last); may be given more than once",
        action="append",
        default=[],
    )
    flags.text(
        "--encoding",
        "NAME",
        "encoding of tables and plain files, such as cp1252 (default: detected)",
    )
    _add_by(flags, "name of the translator")


def _add_check(parser: argparse.ArgumentParser, flags: Flags) -> None:
    about = "files to check without a project: a sentence a line, or TSV, CSV, Parquet, JSON lines"
    parser.add_argument("files", nargs="*", metavar="FILE", help=about)
    files = Flags(parser, "to check files without a project")
    files.text("--language", "CODE", "their language (default: from their names or columns)")
    files.text(
        "--source", "FILE", "the English source (default: the file beside them, eng.devtest)"
    )
    files.text("--output", "FILE", "write a table (TSV) of all findings")
    files.text("--html", "FILE", "write a page for a browser with all findings")
    _add_languages(flags, "all languages with imported translations")
    flags.text(
        "--waive",
        "ID:RULE",
        "ignore findings because the texts are correct; '*:RULE' ignores all findings of a rule",
        nargs="+",
        action="extend",
        default=[],
    )
    flags.text("--because", "TEXT", "the reason for --waive")
    flags.text(
        "--send-back",
        "RULE",
        "count the warnings of this rule as errors, so that `packets` sends the lines back; may be given more"
        " than once",
        action="append",
        default=[],
    )
    copy = "ignore the findings that have a reason in the column `because` of this copy of findings.tsv"
    flags.text("--waive-table", "FILE", copy, action="append", default=[])
    flags.workers("number of processes")
    _add_by(flags, "name of the person who checks or waives")


def _add_review(parser: argparse.ArgumentParser, flags: Flags) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--sheets", action="store_true", help="write sheets with the sentences to review"
    )
    what.add_argument(
        "--import", dest="files", nargs="+", metavar="FILE", help="import completed sheets"
    )
    _add_languages(flags, "all languages that have passed the checks")
    flags.text("--reviewer", "NAME", "name of the reviewer, written to every row of the sheet")
    flags.text("--to", "FOLDER", "folder for copies of the sheets")
    _add_by(flags, "name of the person who sends or imports the sheets")


def _add_status(_: argparse.ArgumentParser, flags: Flags) -> None:
    flags.text("--language", "CODE", "show the journal of this language")
    flags.switch("--totals", "also print the totals of the workflow, as in Table 4 of the paper")
    flags.switch("--json", "print the state of all languages as JSON")


def _add_package(parser: argparse.ArgumentParser, flags: Flags) -> None:
    add_output(parser, has_stages=False)
    flags.text("--version", "V", "version of the data set (default %(default)s)", default="1.0.0")
    flags.switch(
        "--without-review",
        "include languages that have passed the checks but were not accepted by reviewers",
    )
    flags.switch("--with-test", "also write the withheld split test, in a separate folder")
    flags.switch(
        "--test-source", "of the withheld split, write the English sentences, for participants"
    )
    flags.choice(
        "--layout", ("flores101", "flores+"), "files of FLORES-101 or FLORES+ (default %(default)s)"
    )
    about = "the code of a language in FLORES+: por=por_Latn_braz1246; may be given more than once"
    flags.text("--variety", "CODE=PLUS", about, action="append", default=[], dest="varieties")


def _run_packets(settings: argparse.Namespace, _: Sequence[str]) -> None:
    """Writes the packets for translators: files with the sentences to translate. The first packet has all
    sentences. After a check, a packet has the lines with errors, and the reasons. If the score of a
    review is below the accepted score, the next packet has all lines, with the errors that the reviewers
    found. With --edit, the packet has the translations that came back, for another translator to edit
    them before the check; `import` keeps the differences.
    """
    from .journal import print_sent, user
    from .send_packets import send_packets

    _languages_of(settings.languages)  # before a project is made: raises an error for wrong codes
    by = settings.by or user()
    project = _project_of(settings)
    languages = _languages_of(settings.languages, project)
    given = {name: vars(settings)[name] for name in ("to", "edit")}
    print_sent(send_packets(project, languages, formats=settings.format, by=by, **given))


def _languages_of(codes: str, project: "Project | None" = None) -> list["TargetLanguage"]:
    """Returns the languages with the given codes, each language once.

    Args:
      codes: Codes separated by commas. "flores101" stands for all languages of the paper.
      project: The project in which the codes are looked up. If None, they are looked up in the list of all
        languages.

    Raises ValueError for unknown codes, and for English, which is the source language.
    """
    from .target_languages import FLORES101_CODES, find_language

    found: dict[str, TargetLanguage] = {}
    for code in filter(None, (code.strip() for code in codes.split(","))):
        of_all = [one for one in FLORES101_CODES if one != "eng"]
        for one in of_all if code == ALL else [code]:
            language = project.language(one) if project else find_language(one)
            found[language.code] = language
    english = [code for code, language in found.items() if language.tag.split("-")[0] == "en"]
    if english:
        raise ValueError(f"{', '.join(english)}: English is the source and cannot be a target")
    if not found:
        raise ValueError("--languages must have at least one code")
    return list(found.values())


def _project_of(settings: argparse.Namespace) -> "Project":
    from .project import Rules, create_project, find_source, open_project

    rules = {name: vars(settings)[name] for name in Rules._fields}
    given = {name: value for name, value in rules.items() if value is not None}
    if settings.source:
        return create_project(settings.project, Rules(**given), find_source(settings.source))
    if given:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise ValueError(f"{flags}: only allowed with --source, which creates the project")
    return open_project(settings.project)


def _opened(settings: argparse.Namespace) -> tuple["Project", str]:
    """Returns the project, and the name for its journal: that of `--by`, or the user's."""
    from .journal import user
    from .project import open_project

    return open_project(settings.project), settings.by or user()


def _run_import(settings: argparse.Namespace, _: Sequence[str]) -> int:
    """Imports translators' files: XLIFF (.xlf, .xliff), tables (.xlsx, .tsv, .csv, .txt), plain line-aligned
    files with names like fra.devtest, or folders with such files. Lines that cannot be imported are refused,
    and so are files of another project or language; the rest is imported. The exit status is 1 if anything
    was refused. `packets` sends refused lines again, with the reasons. Files are kept unchanged. If a line
    has two different answers to the same packet, it is disputed. There are two ways to end the dispute:
    import an answer to a later packet, or import a file that corrects an earlier import. For a correction,
    use --corrects 0002 (the number of the earlier import), or --corrects last.
    """
    from .imports import import_files, print_imported

    project, by = _opened(settings)
    given = {name: vars(settings)[name] for name in ("language", "corrects", "encoding")}
    return int(print_imported(import_files(project, settings.files, by=by, **given)))


def _run_check(settings: argparse.Namespace, _: Sequence[str]) -> int:
    """Checks the current translations. The exit status is 1 if there are errors. If a text is correct in
    spite of a finding, waive the finding: --languages fra --waive devtest-0042:numbers-differ --because TEXT
    --by NAME. Several findings may follow --waive. To waive all findings of a rule: '*:outer-blanks'. To
    waive many findings at once, copy findings.tsv, the list of findings that a check writes. Add a column
    `because`, enter a reason where the translation is correct, and pass the copy to --waive-table. A waiver
    is valid until the text changes. If the warnings of a rule are really errors, such as truncated
    translations, make them errors in this check: --send-back length-ratio.
    """
    if bool(settings.files) == bool(settings.project):
        raise ValueError("name either files to check, or a project with --project")
    if settings.files:
        return _check_files(settings)
    from . import checks
    from .language_state import make_waive

    project, by = _opened(settings)
    waive = make_waive(settings.waive, settings.because, settings.waive_table, settings.by)
    languages = _languages_in(project, settings.languages)
    if (waive or settings.send_back) and len(languages) != 1:
        raise ValueError("waivers and --send-back apply to one language: name it with --languages")
    shown = checks.SHOWN if len(languages) == 1 else checks.SHOWN_OF_MANY
    found = []
    given = {"workers": settings.workers, "send_back": settings.send_back}
    for checked in checks.check_languages(project, languages, waive=waive, by=by, **given):
        found.append(checked)
        place = f", {len(found):,} of {len(languages):,} languages" if len(languages) > 1 else ""
        checks.print_checked(checked, shown, place)
    checks.print_summary(found)
    return int(any(checked.has_errors for checked in found))


def _check_files(settings: argparse.Namespace) -> int:
    from corpusmill.transforms.files.write_files import write_whole

    from . import check_files

    shown = check_files.SHOWN if len(settings.files) < 3 else 0
    checked = []
    given = settings.language, settings.source, settings.workers
    for one in check_files.check_files(settings.files, *given):
        checked.append(one)
        check_files.print_file(one, shown)
    for path, make in (
        (settings.output, check_files.make_tsv),
        (settings.html, check_files.make_page),
    ):
        if path:
            write_whole(path, make(checked).encode())
            print(f"written: {path}")
    return int(any(one.errors for one in checked))


def _languages_in(project: "Project", codes: str) -> list["TargetLanguage"]:
    """Returns the languages with the comma-separated `codes`; if it is "", all languages with imported
    translations.

    Raises ValueError for unknown codes and for English. If `codes` is "", raises it if no translations were
    imported yet.
    """
    from .journal import read_entries
    from .target_languages import find_language

    if codes:
        return _languages_of(codes, project)
    found = [
        find_language(code)
        for code in project.languages
        if any(entry.kind == "import" for entry in read_entries(project.journal(code)))
    ]
    if not found:
        message = "no translations were imported yet; import them with `import`"
        raise ValueError(f"{project.folder}: {message}")
    return found


def _run_review(settings: argparse.Namespace, _: Sequence[str]) -> None:
    """Writes review sheets, and imports the completed sheets. A sheet has a sample of the translations into a
    language that has passed the checks. When the whole sample is reviewed, the score decides whether the
    language is accepted.
    """
    from . import journal, reviews

    project, by = _opened(settings)
    named = {"reviewer": settings.reviewer, "to": settings.to}
    if not settings.files:
        languages = _languages_in(project, settings.languages)
        journal.print_sent(reviews.write_sheets(project, languages, by=by, **named))
        return
    if settings.languages or any(named.values()):
        raise ValueError("--languages, --reviewer and --to are only allowed with --sheets")
    reviews.print_reviewed(reviews.import_reviews(project, settings.files, by=by))


def _run_status(settings: argparse.Namespace, _: Sequence[str]) -> None:
    """Prints the state of all languages, or the journal of one language."""
    from corpusmill.transforms.files.terminal import screen_columns

    from . import status
    from .project import open_project

    project, width = open_project(settings.project), screen_columns()
    if settings.language and (settings.json or settings.totals):
        raise ValueError("--json and --totals show all languages: leave out --language")
    if settings.language:
        shown = status.render_story(project, project.language(settings.language).code, width)
    else:
        found = status.find_status(project)
        shown = status.render_text(project, found, width)
        shown += status.render_totals(found, width) if settings.totals else ""
    print(status.render_json(project, found) if settings.json else shown, end="")


def _run_package(settings: argparse.Namespace, _: Sequence[str]) -> None:
    """Writes the data set of all accepted languages to <output>/flores101/<project>/<version>: line-aligned
    texts, metadata, Parquet, README.md, manifest.json, COMPLETED. The split test is withheld. With --layout
    flores+, the folder is <project>-plus, and has a Parquet file and a dataset card for each language, as
    FLORES+ has them; the cards are forms, which say what is still to be filled in.
    """
    from .package import package, print_packaged
    from .project import open_project

    chosen = ("version", "without_review", "with_test", "test_source", "replace", "layout")
    given = {name: vars(settings)[name] for name in (*chosen, "varieties")}
    print_packaged(package(open_project(settings.project), settings.output, **given))

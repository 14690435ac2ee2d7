"""Imports the files of translators. A file is either imported completely or not at all, and is stored
unchanged.
"""

import pathlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from corpusmill.transforms.files.markup import write_table
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import SPLITS, ReadError, Translation
from corpusmill.transforms.translation.source_table import splits_of

from . import journal, language_state
from .checks import SETTLE
from .journal import Draft, Entry
from .language_state import Answer, LanguageState, beside
from .packet_files import Returned, decode_sheet, decode_utf8, read_plain, read_sheet
from .project import SOURCE_CODES, Project
from .xliff import read_xliff

READERS: Mapping[str, Callable[[bytes, str], Returned]] = {
    **dict.fromkeys((".xlf", ".xliff"), read_xliff),
    # .txt is the "Unicode text" of Excel.
    **dict.fromkeys(
        (".tsv", ".csv", ".txt"), lambda data, name: read_sheet(decode_sheet(data), name)
    ),
}
SUFFIXES = (*READERS, *(f".{split}" for split in SPLITS))
EDITS = "edits.tsv"  # the lines that an editor has changed
LAST = "last"  # for --corrects: the newest import of another file that has a line of this file
# What an import changes for a line. The journal entry has the number of lines of each kind.
CHANGES = {
    "first": "new",  # the line had no translation
    "same": "the same as before",
    "changed": "changed",  # replaces a translation that answered an earlier packet
    "corrected": "corrected",  # replaces a different answer to the same packet
    "disputed": "disputed (another answer to the same packet differs)",
    "late": "too late (an answer to a later packet is used)",
}


class ReadFile(NamedTuple):
    """A file that was read and checked against the project."""

    path: pathlib.Path
    data: bytes
    code: str  # code of the language
    base: int  # the packet that the file answers; 0 if the file does not name one
    translations: Sequence[Translation]  # without empty translations
    empty: int
    corrects: Sequence[int] = ()  # the imports that the file replaces, all answers to `base`


class Imported(NamedTuple):
    """The result of importing one file."""

    path: str
    code: str
    entry: Entry | None  # None for a file of the source language, which is skipped
    is_new: bool  # False if the file was imported before, as `entry`


def import_files(
    project: Project,
    paths: Iterable[str],
    *,
    language: str = "",
    by: str = "",
    corrects: Sequence[str] = (),
) -> list[Imported]:
    """Imports files: adds an entry to the journal of the language for each new file.

    All files are read before the first entry is written.

    Args:
      paths: files, or folders with files that have a known suffix.
      language: code of the language, for files that do not contain it.
      by: name of the translator.
      corrects: numbers of the imports that the files correct. LAST stands for the last import of another file
        that has a line in common with the file. The lines of the files replace the same lines of these
        imports.

    Raises InputError for a file that cannot be read or belongs to another project, language or packet. Raises
    ValueError for an unknown language, and for a number in `corrects` that is not an import or that the file
    cannot correct.
    """
    code = project.language(language).code if language else ""
    read = [_read(project, path, code, is_named) for path, is_named in _list(paths)]
    files = [one for one in read if isinstance(one, ReadFile)]
    if corrects:
        files = [_correcting(project, one, corrects) for one in files]
    for one in files:
        _check_editor(project, one, by)
    added = iter([_add(project, one, by) for one in files])
    return [one if isinstance(one, Imported) else next(added) for one in read]


def _list(paths: Iterable[str]) -> list[tuple[pathlib.Path, bool]]:
    """Returns a pair (file, is_named) for each file in `paths` and their subfolders, without repetitions.

    `is_named` is True if the file itself was given, and False if it was found in a folder.
    """
    found: dict[pathlib.Path, bool] = {}
    for path in map(pathlib.Path, paths):
        if not path.is_dir():
            found[path] = True
            continue
        below = sorted(one for one in path.rglob("*") if _is_answer(one.relative_to(path), one))
        if not below:
            message = f"contains no file whose name ends with one of {', '.join(SUFFIXES)}"
            raise InputError(str(path), f"the folder {message}")
        for one in below:
            found.setdefault(one, False)
    return list(found.items())


def _is_answer(name: pathlib.Path, path: pathlib.Path) -> bool:
    is_hidden = any(part.startswith(".") for part in name.parts)
    return path.suffix in SUFFIXES and path.is_file() and not is_hidden


def _read(project: Project, path: pathlib.Path, code: str, is_named: bool) -> ReadFile | Imported:
    data = journal.read_bytes(path)
    with journal.naming(path):
        if path.suffix not in SUFFIXES:
            raise ReadError(0, f"the file name must end with one of {', '.join(SUFFIXES)}")
        if path.stem in SOURCE_CODES and path.suffix not in READERS and not is_named:
            _check_source(project, path, data)
            return Imported(str(path), path.stem, None, False)
        return _checked(project, path, data, _returned(project, path, data), code)


def _returned(project: Project, path: pathlib.Path, data: bytes) -> Returned:
    if path.suffix in READERS:
        return READERS[path.suffix](data, path.name)
    if not (ids := [one.id for one in project.sentences if one.split == path.suffix[1:]]):
        raise ReadError(0, f"the project has no sentences of the split {path.suffix[1:]}")
    return read_plain(decode_utf8(data), path.name, ids)


def _check_source(project: Project, path: pathlib.Path, data: bytes) -> None:
    """Raises ReadError if a file in the source language does not have the sentences of the project."""
    lines = decode_utf8(data).removesuffix("\n").split("\n")
    those = dict(splits_of(project.sentences)).get(path.suffix[1:], [])
    if len(lines) != len(those):
        message = f"must have {len(those):,} lines, like the source of the project"
        raise ReadError(0, f"{message}, but has {len(lines):,}")
    for number, (line, source) in enumerate(zip(lines, those, strict=True), 1):
        if line != source.text:
            message = f"differs from sentence {source.id} of the project"
            raise ReadError(number, f"{message}, which is {source.text!r}")


def _checked(
    project: Project, path: pathlib.Path, data: bytes, returned: Returned, code: str
) -> ReadFile:
    if returned.name.project not in ("", project.key):
        raise ReadError(0, f"belongs to the project {returned.name.project}, not to {project.key}")
    code = _language(project, path, returned, code)
    entries = journal.read_entries(project.journal(code))
    if not (packets := {entry.number for entry in entries if entry.kind == "packet"}):
        raise ReadError(0, f"no packet was sent for {code}")
    if returned.name.number and returned.name.number not in packets:
        name = journal.name_of(returned.name.number)
        raise ReadError(0, f"answers packet {name} of {code}, which was never sent")
    _check_lines(project, returned)
    if not (filled := [one for one in returned.translations if one.text]):
        none = "no sentence in the file has a translation"
        what = none if returned.sources else "the file has no sentences"
        raise ReadError(0, f"{what}: check that the translated file was saved")
    empty = len({one.id for one in returned.translations} | set(returned.sources)) - len(filled)
    return ReadFile(path, data, code, returned.name.number, filled, empty)


def _base_of(state: LanguageState, file: ReadFile) -> int:
    """Returns the packet that a file answers: the one that it names, or the newest one for translators."""
    packets = (one.number for one in reversed(state.of_kind("packet")))
    return file.base or next(one for one in packets if one not in state.editing)


def _check_editor(project: Project, file: ReadFile, by: str) -> None:
    """Raises InputError if a file answers a packet for an editor with lines of the editor's own."""
    state = language_state.read_state(project, file.code)
    base = _base_of(state, file)
    if base not in state.editing or _imported_before(state, file, base):
        return
    sent = state.before(base).answers
    numbers = (answer.entry for one in file.translations for answer in sent.get(one.id, ()))
    if entry := next(
        (one for one in (state.entries[n - 1] for n in numbers) if one.by == by), None
    ):
        raise InputError(
            str(file.path),
            f"answers packet {journal.name_of(base)}, which another person than the translator must edit,"
            f" but the journal names {by!r} for this file and for the translation {entry.name}; name the"
            " editor with --by, and leave out the lines that the editor has translated",
        )


def _language(project: Project, path: pathlib.Path, returned: Returned, code: str) -> str:
    """Returns the code of a file's language.

    Args:
      code: the code given with --language; "" if none is given.

    Raises ReadError if neither the file nor the flag has a code, or if the codes differ.
    """
    told = returned.name.language
    if not told and path.suffix not in READERS:
        told = path.stem
    try:
        found = project.language(told).code if told else ""
    except ValueError as error:
        if not code or returned.name.language:
            raise ReadError(0, f"{error}; name the language with --language") from None
        found = ""  # the name of the file is not a language code
    if not (found or code):
        raise ReadError(0, "the file does not contain its language; name it with --language")
    if found and code and found != code:
        raise ReadError(0, f"the language of the file is {found}, but --language is {code}")
    return found or code


def _correcting(project: Project, file: ReadFile, names: Sequence[str]) -> ReadFile:
    """Returns the file, marked as a correction of the imports whose numbers are in `names`.

    Raises ValueError if the file cannot correct one of them.
    """
    entries = journal.read_entries(project.journal(file.code))
    imports = {entry.number: entry for entry in entries if entry.kind == "import"}
    ids = frozenset(one.id for one in file.translations)
    found = [_find_corrected(file, imports, ids, name) for name in dict.fromkeys(names)]
    base = file.base or found[0].facts["base"]
    for entry in found:
        if entry.facts["base"] != base:
            its, other = map(journal.name_of, (entry.facts["base"], base))
            raise ValueError(
                f"--corrects: import {entry.name} of {file.code} answers packet {its}, but {file.path}"
                f" answers packet {other}; a correction must answer the same packet"
            )
    return file._replace(base=base, corrects=sorted({entry.number for entry in found}))


def _find_corrected(
    file: ReadFile, imports: dict[int, Entry], ids: frozenset[str], name: str
) -> Entry:
    if name == LAST:
        for entry in reversed(imports.values()):
            is_same = entry.facts["file"]["sha256"] == journal.sha256_of(file.data)
            if not (is_same or ids.isdisjoint(language_state.ids_of(entry))):
                return entry
        what = f"no other import of {file.code} contains a line of {file.path}"
        raise ValueError(f"--corrects: {what}")
    named = imports.get(int(name)) if name.isascii() and name.isdigit() else None
    if not named:
        known = ", ".join(one.name for one in imports.values())
        there = f"the imports are {known}" if known else "there are no imports"
        raise ValueError(f"--corrects: {name} is not an import of {file.code}; {there}")
    if ids.isdisjoint(language_state.ids_of(named)):
        what = f"import {named.name} of {file.code} contains no line of {file.path}"
        raise ValueError(f"--corrects: {what}")
    return named


def _check_lines(project: Project, returned: Returned) -> None:
    texts = {source.id: source.text for source in project.sentences}
    seen: dict[str, int] = {}
    for one in returned.translations:
        if one.id not in texts:
            raise ReadError(one.line, f"the project has no sentence {one.id!r}")
        if one.id in seen:
            raise ReadError(one.line, f"{one.id} is also in line {seen[one.id]}")
        seen[one.id] = one.line
        if "\n" in one.text:
            raise ReadError(one.line, f"the translation of {one.id} has a line feed")
        source = returned.sources.get(one.id, texts[one.id])
        if source != texts[one.id]:
            message = f"the source of {one.id} must be {texts[one.id]!r}, as it was sent, but is {source!r}"
            raise ReadError(one.line, f"{message}: check the order of the rows")


def _add(project: Project, file: ReadFile, by: str) -> Imported:
    with language_state.locked_state(project, file.code) as state:
        base = _base_of(state, file)
        if earlier := _imported_before(state, file, base):
            return Imported(str(file.path), file.code, earlier, False)
        draft = _draft(state, file, base)
        entry = journal.append(project.journal(file.code), by, state.last, lambda _: draft)
        return Imported(str(file.path), file.code, entry, True)


def _imported_before(state: LanguageState, file: ReadFile, base: int) -> Entry | None:
    """Returns the entry of the last import of the same file; None if the file must be imported.

    A file that was imported before is imported again in two cases: it now corrects an import that it did not
    correct before; or it now answers a later packet, and thereby settles the dispute about a line.

    Args:
      base: number of the packet that the file answers.
    """
    sha256 = journal.sha256_of(file.data)
    earlier = [
        one
        for one in state.of_kind("import")
        if one.facts["file"]["sha256"] == sha256
        and {one.number, *state.corrected_by(one.number)}.issuperset(file.corrects)
    ]
    disputed = frozenset(state.disputed) if earlier else frozenset()
    settles = any(
        one.id in disputed and state.answers[one.id][0].base < base for one in file.translations
    )
    return None if settles or not earlier else earlier[-1]


def _draft(state: LanguageState, file: ReadFile, base: int) -> Draft:
    place = {name: number for number, name in enumerate(state.ids)}
    translations = sorted(file.translations, key=lambda one: place[one.id])
    gone = frozenset(file.corrects).union(*map(state.corrected_by, file.corrects))
    content = language_state.write_translations(translations).encode("utf-8")
    newer = state.newer_than(base, state.last + 1)
    counts: Counter[str] = Counter()
    for one, line in zip(translations, content.split(b"\n")[1:-1], strict=True):
        answer = Answer(state.last + 1, base, line.partition(b"\t")[2], file.path)
        counts[_change(state, one.id, beside(answer, newer.get(one.id, ())), gone)] += 1
    facts = {
        "base": base,
        "corrects": list(file.corrects),
        "file": journal.describe(file.path, file.data),
        "lines": len(translations) + file.empty,
        "empty": file.empty,
        **{change: counts[change] for change in CHANGES},
    }
    contents = {
        language_state.TRANSLATIONS: content,
        f"original/{file.path.name}": file.data,
    }
    if base in state.editing:
        sent = state.before(base).translations
        edits = [
            (one.id, sent[one.id].text, one.text)
            for one in translations
            if one.id in state.editing[base] and one.text != sent[one.id].text
        ]
        if edits:
            contents[EDITS] = write_table(("id", "before", "after"), edits).encode("utf-8")
    return Draft("import", state.entries[base - 1].round, facts, contents)


def _change(state: LanguageState, name: str, found: Sequence[Answer], gone: frozenset[int]) -> str:
    """Returns what an import changes for a line: one of CHANGES, such as "first" or "corrected".

    Args:
      name: id of the line.
      found: the answers that the import yields.
      gone: numbers of the imports that this import corrects.
    """
    if not (answers := state.given.get(name, ())):
        return "first"
    texts = {one.raw_text for one in found}
    if {one.raw_text for one in answers} == texts:
        return "same"
    if answers[0].base > found[0].base:
        return "late"
    left = [one for one in answers if one.entry not in gone and one.base == found[0].base]
    is_agreed = len(texts.union(one.raw_text for one in left)) == 1
    if answers[0].base < found[0].base and is_agreed:
        return "changed"
    return "corrected" if is_agreed else "disputed"


def print_imported(imported: Iterable[Imported]) -> None:
    """Prints the result of the import of each file, one line each."""
    has_disputes = False
    for one in imported:
        print(f"{one.path}: {_describe(one)}")
        has_disputes |= bool(one.is_new and one.entry and one.entry.facts["disputed"])
    if has_disputes:
        print(SETTLE)


def _describe(one: Imported) -> str:
    if not one.entry:
        return "skipped, because it contains the source sentences"
    if not one.is_new:
        return f"{one.code}, already imported as {one.entry.name}; nothing was added"
    edits = one.entry.folder / EDITS
    shown = f"\n  what the editor changed: {edits}" if edits.exists() else ""
    return f"{one.code}, imported as {one.entry.name}, {tell_changes(one.entry.facts)}{shown}"


def tell_changes(facts: Mapping[str, Any]) -> str:
    """Returns what an import answers and changes, such as "answers packet 0001: 8 lines, 8 new"."""
    kinds = {"empty": "empty (not counted as translations)", **CHANGES}
    told = ", ".join(f"{facts[kind]:,} {what}" for kind, what in kinds.items() if facts[kind])
    corrected = ", ".join(map(journal.name_of, facts["corrects"]))
    corrects = f", corrects {corrected}" if corrected else ""
    base = journal.name_of(facts["base"])
    return f"answers packet {base}{corrects}: {facts['lines']:,} lines, {told}"

"""Imports the files of translators.

All lines that can be imported are imported. The others are listed with reasons in the journal entry of the
import, and are sent back with the next packet. A file is stored unchanged.
"""

import codecs
import pathlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from corpusmill.transforms.files.markup import write_table
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import SPLITS, ReadError, Translation
from corpusmill.transforms.files.terminal import count_of, fold
from corpusmill.transforms.translation.source_table import splits_of

from . import journal, language_state
from .checks import SETTLE
from .journal import Draft, Entry
from .language_state import Answer, LanguageState, beside
from .packet_files import Fault, Returned, decode_as, read_plain, read_table_file
from .project import SOURCE_CODES, Project
from .target_languages import language_key
from .xliff import read_xliff

_DOCUMENTS = (".xlf", ".xliff")
_TABLES = (".xlsx", ".tsv", ".csv", ".txt")  # .txt is the "Unicode text" of Excel
SUFFIXES = (*_DOCUMENTS, *_TABLES, *(f".{split}" for split in SPLITS))
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
    base: int  # the packet that the file answers; 0 if it names none, until `_find_base`
    translations: Sequence[Translation]  # without empty translations
    empty: int
    corrects: Sequence[int] = ()  # the imports that the file replaces, all answers to `base`
    faults: Sequence[Fault] = ()  # the lines that cannot be imported
    encoding: str = ""  # of a text that is not Unicode


class Imported(NamedTuple):
    """The result of importing one file."""

    path: str
    code: str
    entry: Entry | None  # None for a file that was refused, or skipped: it has the source sentences
    is_new: bool  # False if the file was imported before, as `entry`
    # the lines that were refused and that no other file has right; of a file that was imported before, those
    # that are still not imported
    faults: Sequence[Fault] = ()
    problem: str = ""  # why the whole file was refused


def import_files(
    project: Project,
    paths: Iterable[str],
    *,
    language: str = "",
    by: str = "",
    corrects: Sequence[str] = (),
    encoding: str = "",
) -> list[Imported]:
    """Imports files: adds an entry to the journal of the language for each new file.

    All files are read before the first entry is written. A file that cannot be read, or that belongs to
    another project, language or packet, is refused; so are single lines. The rest is imported.

    Args:
      paths: files, or folders with files that have a known suffix.
      language: code of the language, for files that do not contain it.
      by: name of the translator.
      corrects: numbers of the imports that the files correct. LAST stands for the last import of another file
        that has a line in common with the file. The lines of the files replace the same lines of these
        imports.
      encoding: encoding of tables and plain files; "" to detect it.

    Raises ValueError for an unknown language or encoding, and for a number in `corrects` that is not an
    import or that the file cannot correct.
    """
    code = project.language(language).code if language else ""
    try:
        encoding = codecs.lookup(encoding).name if encoding else ""
        "".encode(encoding or "utf-8")
    except (LookupError, UnicodeError):
        raise ValueError(f"--encoding: Python knows no encoding {encoding!r}") from None
    read = []
    for path, is_named in _list(paths).items():
        try:
            found = _read(project, path, code, is_named, encoding)
            if corrects and isinstance(found, ReadFile):
                found = _correcting(project, found, corrects)
            if isinstance(found, ReadFile):
                found = found._replace(base=_find_base(project, found, by))
        except InputError as error:
            found = Imported(str(path), code, None, False, problem=str(error))
        read.append(found)
    right = frozenset(
        (one.code, one.base, line.id)
        for one in read
        if isinstance(one, ReadFile)
        for line in one.translations
    )
    return [_add(project, one, by, right) if isinstance(one, ReadFile) else one for one in read]


def _list(paths: Iterable[str]) -> dict[pathlib.Path, bool]:
    """Returns each file in `paths` and their subfolders, and the folders without any file to import.

    The value of a file is True if the file itself was given, and False if it was found in a folder.
    """
    found: dict[pathlib.Path, bool] = {}
    for path in map(pathlib.Path, paths):
        files = sorted(one for one in path.rglob("*") if _is_answer(one.relative_to(path), one))
        found |= dict.fromkeys(files or [path], not files) | found
    return found


def _is_answer(name: pathlib.Path, path: pathlib.Path) -> bool:
    is_hidden = any(part.startswith(".") for part in name.parts)
    return _suffix(path) in SUFFIXES and path.is_file() and not is_hidden


def _suffix(path: pathlib.Path) -> str:
    return path.suffix.casefold()


def _read(
    project: Project, path: pathlib.Path, code: str, is_named: bool, encoding: str
) -> ReadFile | Imported:
    if path.is_dir():
        message = f"contains no file whose name ends with one of {', '.join(SUFFIXES)}"
        raise InputError(str(path), f"the folder {message}")
    data = journal.read_bytes(path)
    is_plain = _suffix(path) not in (*_DOCUMENTS, *_TABLES)
    with journal.naming(path):
        if _suffix(path) not in SUFFIXES:
            message = f"the file name must end with one of {', '.join(SUFFIXES)}"
            raise ReadError(0, f"{message}: save the translations in one of these formats")
        if path.stem in SOURCE_CODES and is_plain and not is_named:
            _check_source(project, path, data)
            return Imported(str(path), path.stem, None, False)
        return _checked(project, path, data, _returned(project, path, data, code, encoding), code)


def _returned(
    project: Project, path: pathlib.Path, data: bytes, code: str, encoding: str
) -> Returned:
    if _suffix(path) in _DOCUMENTS:
        return read_xliff(data, path.name)
    if _suffix(path) in _TABLES:
        sources = {one.id: one.text for one in project.sentences}
        return read_table_file(data, path.name, sources, code, encoding)
    split = _suffix(path)[1:]
    if not (ids := [one.id for one in project.sentences if one.split == split]):
        raise ReadError(0, f"the project has no sentences of the split {split}")
    try:
        text = decode_as(data, encoding or "utf-8")
    except ReadError as error:
        remedy = "save it as UTF-8, or name its encoding with --encoding NAME"
        raise ReadError(error.line, f"{error.message}; {remedy}") from None
    is_unicode = encoding.startswith("utf")
    return read_plain(text, path.name, ids)._replace(encoding="" if is_unicode else encoding)


def _check_source(project: Project, path: pathlib.Path, data: bytes) -> None:
    """Raises ReadError if a file in the source language does not have the sentences of the project."""
    lines = decode_as(data).removesuffix("\n").split("\n")
    those = dict(splits_of(project.sentences)).get(_suffix(path)[1:], [])
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
    translations, faults = _sort_out(project, returned)
    filled = [one for one in translations if one.text]
    if not (filled or faults):
        none = "no sentence in the file has a translation"
        what = none if returned.sources else "the file has no sentences"
        raise ReadError(0, f"{what}: check that the translated file was saved")
    return ReadFile(
        *(path, data, code, returned.name.number, filled),
        empty=len(returned.sources) - len(filled) - (len(faults) - len(returned.faults)),
        faults=faults,
        encoding=returned.encoding,
    )


def _find_base(project: Project, file: ReadFile, by: str) -> int:
    """Returns the packet that a file answers: the one that it names, or the newest one for translators.

    Raises InputError if a file answers a packet for an editor with lines of the editor's own.
    """
    state = language_state.read_state(project, file.code)
    packets = (one.number for one in reversed(state.of_kind("packet")))
    base = file.base or next(one for one in packets if one not in state.editing)
    if base not in state.editing or _imported_before(state, file._replace(base=base)):
        return base
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
    return base


def _language(project: Project, path: pathlib.Path, returned: Returned, code: str) -> str:
    """Returns the code of a file's language.

    Args:
      code: the code given with --language; "" if none is given.

    Raises ReadError if neither the file nor the flag has a code, or if the codes differ.
    """
    told = returned.name.language
    if not told and _suffix(path) not in (*_DOCUMENTS, *_TABLES):
        told = path.stem
    tag = returned.tag.replace("_", "-")
    try:
        if tag and told and language_key(tag) != language_key(told):
            message = (
                f"the document is in the language {returned.tag!r}, but its packet is in {told}"
            )
            raise ReadError(0, f"{message}: translate it into {told}, or correct the attribute")
        found = project.language(told or tag).code if told or tag else ""
    except ValueError as error:
        if not code or returned.name.language or tag:
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
    ids = frozenset({one.id for one in file.translations} | {one.id for one in file.faults} - {""})
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


def _sort_out(project: Project, returned: Returned) -> tuple[list[Translation], Sequence[Fault]]:
    """Returns the translations that can be imported, and the lines that cannot.

    White space with a line feed at the ends of a text is the indentation of a document, and is removed.
    """
    texts = {source.id: source.text for source in project.sentences}
    ids = {text: id_ for id_, text in texts.items()}
    good, faults = [], list(returned.faults)
    for one in returned.translations:
        text = _INDENTATION.sub("", one.text)
        source = returned.sources.get(one.id, "")
        if one.id not in texts:
            faults.append(Fault("", one.line, f"the project has no sentence {one.id!r}"))
        elif source and _folded(source) != _folded(texts[one.id]):
            why = f"the source must be {texts[one.id]!r}, as it was sent, but is {source!r}"
            other = f" (that of {ids[source]}: was one column sorted?)" if source in ids else ""
            faults.append(Fault(one.id, one.line, f"{why}{other}"))
        elif "\n" in text:
            why = "the translation has a line break: write it in one line"
            faults.append(Fault(one.id, one.line, why))
        elif (_LOST if returned.encoding else _LOST_ALL).search(text) and "?" not in texts[one.id]:
            why = f"letters were replaced by ? when the file was saved: save it as UTF-8 ({text!r})"
            faults.append(Fault(one.id, one.line, why))
        else:
            good.append(one._replace(text=text))
    return good, sorted(faults, key=lambda one: one.line)


_LOST, _LOST_ALL = (
    re.compile(r"\?"),
    re.compile(r"\w\?+\w|\?\?\W+\?|\A\W*\?\?\W*\Z"),
)  # in an old encoding; in any
_INDENTATION = re.compile(r"\A[ \t\r]*\n\s*|\s*\n[ \t\r]*\Z")


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _add(
    project: Project, file: ReadFile, by: str, right: frozenset[tuple[str, int, str]]
) -> Imported:
    """Adds a file to the journal. `right` has (language, packet, id) of all lines that are imported."""
    with language_state.locked_state(project, file.code) as state:
        earlier = _imported_before(state, file)
        entry = earlier or journal.append(
            project.journal(file.code), by, state.last, lambda _: _draft(state, file, right)
        )
        open_faults = [
            one
            for one in file.faults
            if (file.code, file.base, one.id) not in right
            and (not earlier or (one.id in state.refused if one.id else state.awaited))
        ]
        return Imported(str(file.path), file.code, entry, not earlier, open_faults)


def _imported_before(state: LanguageState, file: ReadFile) -> Entry | None:
    """Returns the entry of the last import of the same file; None if the file must be imported.

    A file that was imported before is imported again in two cases: it now corrects an import that it did not
    correct before; or it now answers a later packet, and thereby settles the dispute about a line.
    """
    sha256 = journal.sha256_of(file.data)
    earlier = [
        one
        for one in state.of_kind("import")
        if (one.facts["file"]["sha256"], one.facts.get("encoding", "")) == (sha256, file.encoding)
        and {one.number, *state.corrected_by(one.number)}.issuperset(file.corrects)
    ]
    disputed = frozenset(state.disputed) if earlier else frozenset()
    settles = any(
        one.id in disputed and state.answers[one.id][0].base < file.base
        for one in file.translations
    )
    return None if settles or not earlier else earlier[-1]


def _draft(state: LanguageState, file: ReadFile, right: frozenset[tuple[str, int, str]]) -> Draft:
    base = file.base
    place = {name: number for number, name in enumerate(state.ids)}
    translations = sorted(file.translations, key=lambda one: place[one.id])
    gone = frozenset(file.corrects).union(*map(state.corrected_by, file.corrects))
    content = language_state.write_translations(translations).encode("utf-8")
    newer = state.newer_than(base, state.last + 1)
    counts: Counter[str] = Counter()
    for one, line in zip(translations, content.split(b"\n")[1:-1], strict=True):
        answer = Answer(state.last + 1, base, line.partition(b"\t")[2], file.path)
        counts[_change(state, one.id, beside(answer, newer.get(one.id, ())), gone)] += 1
    facts: dict[str, Any] = {
        "base": base,
        "corrects": list(file.corrects),
        "file": journal.describe(file.path, file.data),
        "lines": len(translations) + file.empty + len(file.faults),
        "empty": file.empty,
        "refused": len(file.faults),
        **({"encoding": file.encoding} if file.encoding else {}),
        **{change: counts[change] for change in CHANGES},
    }
    contents = {
        language_state.TRANSLATIONS: content,
        f"original/{file.path.name}": file.data,
    }
    if elsewhere := [one.id for one in file.faults if (file.code, file.base, one.id) in right]:
        facts["right_elsewhere"] = elsewhere
    if file.faults:
        rows = ((one.id, str(one.line), one.message) for one in file.faults)
        contents[language_state.REFUSED] = write_table(Fault._fields, rows).encode("utf-8")
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


_SHOWN = 10  # lines of a file in the report


def print_imported(imported: Sequence[Imported]) -> bool:
    """Prints the result of the import of each file: first the files that were refused, then those with the
    most lines that were refused. Returns True if anything was refused.
    """
    for one in sorted(imported, key=lambda one: (not one.problem, -len(one.faults))):
        print(fold(f"refused: {one.problem}" if one.problem else f"{one.path}: {_describe(one)}"))
        for id_, line, message in one.faults[:_SHOWN]:
            print(fold(f"  line {line}: {id_}{' ' if id_ else ''}refused: {message}"))
        if (more := len(one.faults) - _SHOWN) > 0 and one.entry:
            print(f"  … and {more:,} more: {one.entry.folder / language_state.REFUSED}")
    if any(one.is_new and one.entry and one.entry.facts["disputed"] for one in imported):
        print(fold(SETTLE))
    bad = sum(bool(one.problem) for one in imported)
    read, refused, empty = (
        sum(one.entry.facts.get(name, 0) for one in imported if one.entry and one.is_new)
        for name in ("lines", "refused", "empty")
    )
    if refused or bad:
        kept = f"{read - refused - empty:,} imported + {empty:,} empty + {refused:,} refused"
        files = f"{count_of(len(imported), 'file')}, {bad:,} refused"
        print(fold(f"{files}; {count_of(read, 'line')} read = {kept}"))
    is_open = any(one.faults for one in imported)
    if is_open:
        next_ = "`packets` sends refused lines again after `check`; or import a corrected file"
        print(fold(f"next: {next_}"))
    return bool(is_open or bad)


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
    kinds = {"empty": "empty (not counted as translations)", "refused": "refused", **CHANGES}
    told = ", ".join(f"{facts[kind]:,} {what}" for kind, what in kinds.items() if facts.get(kind))
    told += f"; read as {facts['encoding']}" if "encoding" in facts else ""
    corrected = ", ".join(map(journal.name_of, facts["corrects"]))
    corrects = f", corrects {corrected}" if corrected else ""
    base = journal.name_of(facts["base"])
    return f"answers packet {base}{corrects}: {count_of(facts['lines'], 'line')}, {told}"

"""Writes the finished data set: line-aligned texts as in FLORES-101, and Parquet with one row per sentence.

dev/fra.dev  devtest/fra.devtest  metadata_dev.tsv  metadata_devtest.tsv  dev-*.parquet  devtest-*.parquet
test/        the same files for the withheld split, only if requested
manifest.json  README.md  COMPLETED

In the layout of FLORES+, there is a file for each language, and a card that OLDI asks of contributors:

dev/fra_Latn.parquet  devtest/fra_Latn.parquet  dataset_cards/fra_Latn.md
"""

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import pyarrow as pa
from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files import markup
from corpusmill.transforms.files.builds import manifest as manifests
from corpusmill.transforms.files.builds.dataset_card import MAKER
from corpusmill.transforms.files.formats import table_of
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import InputFile, OutputFile, SourceSentence
from corpusmill.transforms.files.write_files import mark, write_parquet, write_text
from corpusmill.transforms.translation import source_accounts, source_table
from corpusmill.transforms.translation.source_table import LICENCE, columns_of, splits_of

from ..run import publish
from ..run.corpora import code_versions
from ..run.editions import write_cards
from . import workflow
from .language_state import LanguageState, read_state
from .project import Project
from .target_languages import TargetLanguage, find_variety, flores_plus_code

CORPUS = "flores101"
VERSION = "1.0.0"  # default version of a data set
SOURCE_CODE = "eng"
WITHHELD = "test"
LICENSE = "cc-by-sa-4.0"
PLUS = "flores+"
LAYOUTS = (CORPUS, PLUS)
_TEXTS = ("id", "url", "domain", "topic")
_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in _TEXTS),
        *((name, pa.bool_()) for name in ("has_image", "has_hyperlink")),
        ("article", pa.string()),
    ]
)
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


class Packaged(NamedTuple):
    """A finished package: its folder and its manifest."""

    folder: str
    manifest: Mapping[str, Any]


class Included(NamedTuple):
    """A language that is part of the package."""

    code: str
    texts: Mapping[str, str]  # id → text, of all sentences
    score: str | None  # "95.7"; None without a review
    digest: str  # hash of the texts
    rounds: int = 0  # number of rounds of packets; 0 for the source language
    days: float | None = None  # from the first packet to the newest entry
    edited: int = 0  # lines whose translation was returned by an editor
    people: workflow.People = MappingProxyType({})  # who translated or edited it
    measures: workflow.Measures = MappingProxyType({})
    plus: str = ""  # "fra_Latn_stan1290", in the layout of FLORES+
    file: str = ""  # "fra_Latn", the name of its file there

    @property
    def language(self) -> TargetLanguage:
        return find_variety(self.code, self.plus)


def package(
    project: Project,
    output: str,
    *,
    version: str = VERSION,
    without_review: bool = False,
    with_test: bool = False,
    test_source: bool = False,
    replace: bool = False,
    layout: str = CORPUS,
    varieties: Sequence[str] = (),
) -> Packaged:
    """Writes the data set to `<output>/flores101/<project>/<version>`, completely or not at all.

    In the layout of FLORES+, the folder of the project has the ending "-plus".

    Args:
      output: parent folder of the builds.
      version: version of the data set.
      without_review: whether to include languages that have passed the checks but were not accepted by
        reviewers.
      with_test: whether to write the withheld split too, for the organisers of an evaluation.
      test_source: whether to write the English sentences of the withheld split, for participants.
      replace: whether to overwrite a finished build.
      layout: one of LAYOUTS.
      varieties: codes of languages in FLORES+, such as "por=por_Latn_braz1246"; for others, see
        `flores_plus_code`.

    Raises TargetError if the target exists or cannot be written, ValueError if no language can be packaged,
    InputError for a damaged project.
    """
    if not _VERSION.fullmatch(version):
        raise ValueError(
            "`version` must consist of letters, digits, '.', '_', '+' and '-', beginning with a letter or"
            f" digit, got {version!r}"
        )
    test = dict(splits_of(project.sentences)).get(WITHHELD, [])
    if test_source and (with_test or not test):
        why = "--with-test has them" if with_test else f"the project has no split {WITHHELD}"
        raise ValueError(f"--test-source: {why}")
    is_plus = layout == PLUS
    if is_plus and (with_test or test_source):
        raise ValueError("--layout flores+: FLORES+ has no split test")
    if is_plus and any(one.licence for one in project.sentences):
        raise ValueError("--layout flores+: its rows have no column for the licences of documents")
    included, left_out = choose_languages(project, without_review)
    if not included:
        told = "; ".join(f"{code}: {why}" for code, why in left_out.items())
        raise ValueError(f"there is no language to package: {told or 'no packet was sent'}")
    if is_plus or varieties:
        included = add_plus_codes(included, varieties, is_plus)
    edition = f"{project.rules.name}{'-plus' if is_plus else ''}"
    target: str = FileSystems.join(output, CORPUS, edition, version)
    if publish.is_completed(target) and not replace:
        write_cards([target])  # missing if a process was killed after it wrote COMPLETED
    with publish.building(target, replace=replace) as folder:
        kept = {
            split: len(sentences) * (len(included) if is_plus else 1)
            for split, sentences in splits_of(project.sentences)
            if split != WITHHELD or with_test
        }
        splits = [*kept, *(["test-source"] if test_source else [])]
        contents = f"langs:{len(included)}|splits:{'+'.join(splits)}|v:{version}"
        if varieties:
            contents = f"varieties:{'+'.join(sorted(varieties))}|{contents}"
        contents = f"layout:floresplus|{contents}" if is_plus else contents
        signature = f"{CORPUS}|project:{project.key}|{contents}"
        of_rows = "the column licence has that of each row"
        licence = of_rows if source_accounts.hub_licenses(project.sentences) else LICENSE
        marks = {"signature": signature, "version": version, "license": licence}
        write = _write_plus if is_plus else _write
        outputs = list(write(project, included, folder, kept, marks))
        if test_source:
            (source,) = (one for one in included if one.code == SOURCE_CODE)
            name = f"{WITHHELD}/{SOURCE_CODE}.{WITHHELD}"
            outputs.append(_write_lines(folder, name, test, source))
        of_plus = {"layout": "floresplus", "varieties": sorted(varieties)}
        more = edition, of_plus if is_plus else {"with_test": with_test}
        manifest = _manifest(project, included, left_out, outputs, version, kept, *more)
        manifest["signature"] = signature
        card = write_text(folder, manifests.CARD, make_card(project, manifest, included), "card")
        manifest = manifests.add_outputs(manifest, [card])
        write_text(folder, manifests.MANIFEST, manifests.to_json(manifest))
    write_cards([target])
    return Packaged(target, manifest)


def choose_languages(
    project: Project, without_review: bool
) -> tuple[list[Included], dict[str, str]]:
    """Returns the languages to include, sorted by code, and the reasons why other languages are left out.

    The keys of the reasons are codes of languages.

    Args:
      without_review: whether to include languages that have passed the checks but were not accepted by
        reviewers.
    """
    source = Included(
        SOURCE_CODE,
        {one.id: one.text for one in project.sentences},
        None,
        project.source_sha256,
    )
    included, left_out, record = [], {}, workflow.read_record(project)
    for code in project.languages:
        state = read_state(project, code)
        if not state.entries:
            continue  # the journal is empty: its first writer was killed
        if why := _why_left_out(state, without_review):
            left_out[code] = why
        else:
            texts = {name: one.text for name, one in state.translations.items()}
            score = state.verdict.facts["shown"] if state.verdict else None
            work = (
                *(state.round, state.days, len(state.edited)),
                *(workflow.find_people(state, code, record), workflow.measure(state)),
            )
            included.append(Included(code, texts, score, state.digest, *work))
    if included:
        included = sorted([*included, source], key=lambda one: one.code)
    return included, left_out


def _why_left_out(state: LanguageState, without_review: bool) -> str:
    if len(state.answers) < len(state.ids):
        missing = len(state.ids) - len(state.answers)
        return f"{state.name}: {missing:,} sentences have no translation"
    if not state.has_passed or not (without_review or state.is_accepted):
        return "checked, and not reviewed yet" if state.name == "checked" else state.name
    return ""


def _write(
    project: Project,
    included: Sequence[Included],
    folder: str,
    kept: Mapping[str, int],
    marks: Mapping[str, str],
) -> Iterator[OutputFile]:
    for split, sentences in splits_of(project.sentences):
        if split not in kept:
            continue
        above = f"{WITHHELD}/" if split == WITHHELD else ""
        for language in included:
            yield _write_lines(folder, f"{split}/{language.code}.{split}", sentences, language)
        name = f"{above}metadata_{split}.tsv"
        yield write_text(folder, name, make_metadata(sentences), "metadata", len(sentences))
        name = f"{above}{split}-00000-of-00001.parquet"
        table = make_rows(sentences, included)
        yield write_parquet(folder, name, split, table.cast(mark(table.schema, marks)))


def add_plus_codes(
    included: Sequence[Included], varieties: Sequence[str], is_plus: bool = True
) -> list[Included]:
    """Returns the languages with their codes in FLORES+.

    A file has the name of a language and a script, and that of the variety if another one has the same name.
    Raises ValueError for an unknown code, for two codes of a language, and for two languages with the same
    code.
    """
    given = {code: plus for code, _, plus in (one.partition("=") for one in varieties)}
    if len(given) < len(varieties) or not all(given.values()):
        raise ValueError(
            f"--variety {' '.join(varieties)}: give one CODE=xxx_Xxxx_xxxx1234 a language"
        )
    if others := given.keys() - {one.code for one in included}:
        raise ValueError(f"--variety: {', '.join(sorted(others))} is not in the package")
    if not is_plus:
        raise ValueError(f"--variety is only allowed with --layout {PLUS}")
    codes = [flores_plus_code(one.code, given.get(one.code, "")) for one in included]
    if same := [code for code, count in Counter(codes).items() if count > 1]:
        raise ValueError(f"--variety: two languages have the code {same[0]}")
    short = [code.rpartition("_")[0] for code in codes]
    return [
        one._replace(plus=code, file=name if short.count(name) == 1 else code)
        for one, code, name in zip(included, codes, short, strict=True)
    ]


def _write_plus(
    project: Project,
    included: Sequence[Included],
    folder: str,
    kept: Mapping[str, int],
    marks: Mapping[str, str],
) -> Iterator[OutputFile]:
    of_split, record = dict(splits_of(project.sentences)), workflow.read_record(project)
    for language in included:
        for split in kept:
            rows = [
                (
                    *(place, *language.plus.split("_"), language.texts[one.id], one.url),
                    *(one.domain, one.topic, *source_table.yes_or_no_of(one), marks["version"]),
                )
                for place, one in enumerate(of_split[split])
            ]
            table = table_of(rows, mark(source_table.PLUS_COLUMNS, marks))
            yield write_parquet(folder, f"{split}/{language.file}.parquet", split, table)
        if language.code != SOURCE_CODE:
            # Others may only have imported files.
            people = {
                who: met for who, met in language.people.items() if (who, language.code) in record
            }
            facts = {"one": language, "kept": [*kept], "people": people}
            met = workflow.count_people([people])
            form = markup.render("flores_plus", project=project, met=met, licence=LICENSE, **facts)
            name = f"dataset_cards/{language.file}.md"
            yield write_text(folder, name, "\n".join([*form, ""]), "card")


def _write_lines(
    folder: str, name: str, sentences: Sequence[SourceSentence], language: Included
) -> OutputFile:
    lines = [language.texts[sentence.id] for sentence in sentences]
    for sentence, line in zip(sentences, lines, strict=True):
        if "\n" in line:
            what = f"the translation of {sentence.id} into {language.code}"
            raise InputError(name, f"{what} contains a line feed")
    return write_text(folder, name, "".join(f"{line}\n" for line in lines), records=len(lines))


def make_metadata(sentences: Sequence[SourceSentence]) -> str:
    """Returns a metadata table in the format of FLORES-101, with a column for licences if there are any.

    Raises InputError for a field with a tab or line feed.
    """
    columns = columns_of(source_table.METADATA_COLUMNS, sentences)
    rows = [
        (
            *(one.url, one.domain, one.topic),
            *source_table.yes_or_no_of(one),
            *([one.licence] if LICENCE in columns else []),
        )
        for one in sentences
    ]
    for sentence, row in zip(sentences, rows, strict=True):
        if any(sign in field for field in row for sign in "\t\n"):
            message = f"{sentence.id}: a field contains a tab or line feed"
            raise InputError(source_table.NAME, message)
    return "".join("\t".join(map(markup.protect, row)) + "\n" for row in (columns, *rows))


def make_rows(sentences: Sequence[SourceSentence], included: Sequence[Included]) -> pa.Table:
    """Returns a table with a row for each sentence: metadata, and a column `sentence_<code>` for each
    language.
    """
    has_licences = LICENCE in columns_of((), sentences)
    schema = _SCHEMA.append(pa.field(LICENCE, pa.string())) if has_licences else _SCHEMA
    rows = [[getattr(one, name) for name in schema.names] for one in sentences]
    table = table_of(rows, schema)
    for language in included:
        texts = [language.texts[one.id] for one in sentences]
        table = table.append_column(f"sentence_{language.code}", pa.array(texts, pa.string()))
    return table


def _manifest(
    project: Project,
    included: Sequence[Included],
    left_out: Mapping[str, str],
    outputs: Sequence[OutputFile],
    version: str,
    kept: Mapping[str, int],
    edition: str,
    more: Mapping[str, Any],
) -> dict[str, Any]:
    """Returns the manifest of the data set. It contains no time, so that the same project gives the same
    bytes.

    Args:
      included: the languages in the package.
      left_out: code of a language → reason why it is left out.
      outputs: the files of the package.
      version: the version of the data set.
      kept: split → number of its sentences in the package.
      edition: the name of the edition.
      more: settings other than those of the project.
    """
    rules = project.rules
    provenance = manifests.Provenance(
        corpus=CORPUS,
        edition=edition,
        dump_date="",
        version=version,
        release_notes={VERSION: "First build."},
        settings={
            "seed": rules.seed,
            "review_share": str(rules.review_share),
            "accepted_score": str(rules.accepted_score),
            **more,
        },
        caveats=tuple(f"{code} is left out: {why}" for code, why in left_out.items()),
        code=code_versions(),
    )
    source = (project.folder / source_table.NAME).stat().st_size
    inputs = [InputFile("source", source_table.NAME, source, project.source_sha256)]
    counts = {"kept": {**kept, "total": sum(kept.values())}, "languages": len(included)}
    manifest = manifests.assemble(provenance, inputs, counts, (), outputs)
    manifest["languages"] = {
        one.code: {
            "score": one.score,
            "rounds": one.rounds,
            "days": None if one.days is None else round(one.days, 1),
            "edited": one.edited,
            "people": len(one.people),
            "translations_sha256": one.digest,
            **({"flores_plus": one.plus} if one.plus else {}),
        }
        for one in included
    }
    return manifest


def make_card(project: Project, manifest: Mapping[str, Any], included: Sequence[Included]) -> str:
    """Returns the content of README.md, with the YAML header for the Hugging Face hub."""
    languages = [one.language for one in included]
    kept = {split: n for split, n in manifest["counts"]["kept"].items() if split != "total"}
    shown = [split for split in kept if split != WITHHELD]
    of_languages = [one.file for one in included if one.file]
    patterns = {"default": "{}/*.parquet" if of_languages else "{}-*.parquet"}
    patterns |= {name: f"{{}}/{name}.parquet" for name in of_languages}
    about = source_accounts.DESCRIPTION
    domains = ", ".join(sorted({one.domain for one in project.sentences}))
    has_licences = any(one.licence for one in project.sentences)
    sources = domains if has_licences else "English Wikimedia sites"
    head = markup.CardHead(
        license=source_accounts.hub_licenses(project.sentences) or LICENSE,
        language=list(dict.fromkeys(language.tag for language in languages)),
        pretty_name=project.rules.name,
        tags=[MAKER, *about.tags],
        task_categories=[*about.tasks],
        size_categories=[markup.size_category(sum(kept[split] for split in shown))],
        configs=[
            markup.config_of(name, {split: form.format(split) for split in shown})
            for name, form in patterns.items()
        ],
    )
    card = markup.render(
        "translations",
        manifest=manifest,
        kept=kept,
        rules=project.rules,
        sources=f"Sentences of {sources}",
        licences=source_accounts.count_licences(project.sentences),
        languages=list(zip(included, languages, strict=True)),
        plus=[(one.code, one.plus) for one in included],
        totals=workflow.totals([one.measures for one in included if one.measures]),
        people=workflow.count_people(one.people for one in included),
        citation=about.citation,
    )
    return "\n".join([*markup.yaml_head(head), "", *card, ""])


def print_packaged(packaged: Packaged) -> None:
    """Prints the content, the caveats and the folder of a package."""
    manifest = packaged.manifest
    print(manifest["signature"])
    kept = manifest["counts"]["kept"].items()
    print(", ".join(f"{split} {count:,}" for split, count in kept if split != "total"))
    names = (
        f"{c} ({one['flores_plus']})" if "flores_plus" in one else c
        for c, one in manifest["languages"].items()
    )
    print(f"{len(manifest['languages'])} languages: {' '.join(names)}")
    for caveat in manifest["caveats"]:
        print(f"note: {caveat}")
    print(f"the build: {posixpath.normpath(packaged.folder)}")

"""Writes task files for lm-evaluation-harness, which measure word perplexity and bits per byte on builds, or
spBLEU and chrF++ of translations.

https://github.com/EleutherAI/lm-evaluation-harness

Uploads finished builds to a data set on the Hugging Face hub, with one commit for each edition.

The repository has the same layout as the folder of the corpus:

    README.md                             a config for each edition: load_dataset(repo, "uk")
    uk/20260101-1.3.0/train-….parquet     and all other files of the build

Files that are already in the repository are not uploaded again, so the same call continues an interrupted
upload.
"""

import contextlib
import hashlib
import itertools
import logging
import os
import pathlib
import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import yaml
from huggingface_hub import CommitOperationAdd, HfApi, get_token
from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError
from huggingface_hub.hf_api import RepoFile

from corpusmill.transforms.files.builds.check_builds import find_unlisted
from corpusmill.transforms.files.builds.dataset_card import (
    MARK,
    BuildBelow,
    make_folder_card,
    read_places,
)
from corpusmill.transforms.files.builds.finished_builds import (
    Build,
    files_below,
    path_below,
    read_card,
    read_json,
)
from corpusmill.transforms.files.read_files import InputError, match_inputs
from corpusmill.transforms.files.stores import StoreError, is_local
from corpusmill.transforms.files.write_files import write_whole

from ..run.corpora import VERSION, layout_of, shape_of
from ..run.editions import FOLDER_CARD, choose_builds
from . import corpusmill_task
from .language_model_scores import Normalisers, read_normalisers

_FUNCTIONS = """\
custom_dataset: !function corpusmill_task.load
process_results: !function corpusmill_task.process_results
"""
_METRICS = ("word_perplexity", "byte_perplexity", "bits_per_byte")


_OF_TRANSLATIONS = """\
custom_dataset: !function corpusmill_task.load_translations
process_results: !function corpusmill_task.process_translation
metric_list:
- {metric: spBLEU, aggregation: !function corpusmill_task.spbleu, higher_is_better: true}
- {metric: chrF++, aggregation: !function corpusmill_task.chrf, higher_is_better: true}
"""
_LAYOUTS = ("flores101", "flores200", "floresplus")
_ENGLISH = ("eng_Latn", "eng")
_GLOTTOCODE = re.compile(r"_[a-z0-9]{4}[0-9]{4}$")
_GENERATION = {"until": ["\n"], "do_sample": False, "max_gen_toks": 512}


def write_tasks(
    folders: Sequence[str], output: str, split: str = "test", repo: str = "", model: str = ""
) -> Iterator[str]:
    """Writes a task file for each edition in `folders` and their subfolders. Yields the names of the tasks.

    For translations in the layout of FLORES+ or made of a released FLORES, writes one for each direction from
    and into English.

    Args:
      output: The folder for the task files and for the module that they import.
      split: The split on which to measure.
      repo: "owner/name" of a data set on the Hugging Face hub that contains the builds; "" to read them from
        their folders.
      model: The SentencePiece model of spBLEU; "" for that of sacrebleu's tokenizer flores101.

    Builds of translations without the split are skipped if there are others.

    Raises InputError if there is no build with text, ValueError if a build does not have the split.
    """
    model = model and os.path.relpath(match_inputs([model])[0], output)
    builds = choose_builds(
        folders,
        lambda one: bool(layout_of(one.manifest) or is_of_translations(one)) and bool(one.format),
        "running text, or with translations in the layout of FLORES+",
    )
    others = [
        one
        for one in builds
        if not is_of_translations(one) or split in itertools.chain(*_splits_of(one).values())
    ]
    for build in [one for one in builds if others and one not in others]:
        message = f"skipped a build without the split {split}: {build.folder}"
        logging.getLogger(__name__).warning(message)
    folder = pathlib.Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    source = pathlib.Path(corpusmill_task.__file__)
    write_whole(folder / source.name, source.read_bytes())
    for build in others or builds:
        place = f"hub:{repo}:{build.edition}" if repo else os.path.relpath(build.folder, folder)
        if is_of_translations(build):
            tasks = make_translation_tasks(build, split, place, model)
        else:
            tasks = {name_task(build, split): make_task(build, split, place)}
        for name, task in tasks.items():
            write_whole(folder / f"{name}.yaml", task.encode("utf-8"))
            yield name


def name_task(build: Build, *parts: str) -> str:
    """Returns the name of a task, such as "corpusmill_wiki40b_uk_test"."""
    words = "_".join((build.corpus, build.edition, *parts))
    return re.sub(r"\W+", "_", f"corpusmill_{words}").lower()


def is_of_translations(build: Build) -> bool:
    """Returns True if each row of a build is a sentence in one language."""
    return build.manifest.get("settings", {}).get("layout") in _LAYOUTS


def make_translation_tasks(build: Build, split: str, place: str, model: str) -> Mapping[str, str]:
    """Returns name of a task → its content, for each direction from and into English.

    Args:
      place: As for `make_task`.
      model: The SentencePiece model, relative to the task files, or "".

    Raises ValueError if the build does not have the split, or no English.
    """
    splits = _splits_of(build)
    codes = [code for code, there in splits.items() if split in there]
    if not codes:
        there = ", ".join(dict.fromkeys(itertools.chain(*splits.values())))
        raise ValueError(f"{build.folder}: no such split: {split!r}; there are {there}")
    english = next((code for code in _ENGLISH if code in codes), "")
    others = [code for code in codes if code != english]
    if not english or not others:
        raise ValueError(f"{build.folder}: needs English and another language in {split}")
    names = {code: _name_of(code, codes) for code in codes}
    tasks = {}
    for source, target in [
        *itertools.product([english], others),
        *itertools.product(others, [english]),
    ]:
        loaded = [split, *({"dev"} - {split}).intersection(splits[source], splits[target])]
        given = {"source": source, "target": target, "model": model}
        name = name_task(build, source, target, split)
        task = {
            "task": name,
            "tag": f"corpusmill_{build.corpus}",
            "dataset_kwargs": {"build": place, "splits": loaded, **given},
            "test_split": split,
            "fewshot_split": loaded[-1],
            "output_type": "generate_until",
            "doc_to_text": f"{names[source]}: {{{{source}}}}\n{names[target]}:",
            "doc_to_target": "target",
            "generation_kwargs": _GENERATION,
            "metadata": {"version": build.manifest["version"], "signature": build.signature},
        }
        tasks[name] = yaml.safe_dump(task, sort_keys=False, allow_unicode=True) + _OF_TRANSLATIONS
    return tasks


def _splits_of(build: Build) -> Mapping[str, Collection[str]]:
    """Returns code of a language → its splits. A glottocode is left out if the rest is unique."""
    files = [one for one in build.manifest["outputs"] if one["format"] == build.format]
    stems = (posixpath.splitext(posixpath.basename(one["name"]))[0] for one in files)
    all_splits = dict.fromkeys(one["split"] for one in files if one["split"])
    found = build.manifest.get("rows_by_language") or dict.fromkeys(stems, all_splits)
    plain = [_GLOTTOCODE.sub("", code) for code in found]
    return {
        name if plain.count(name) == 1 else code: there
        for name, (code, there) in zip(plain, found.items(), strict=True)
    }


_SCRIPTS = {"simpl": "Hans", "trad": "Hant"}  # in codes of FLORES-101


def _name_of(code: str, codes: Collection[str]) -> str:
    """Returns the name of a language, such as "French" for "fra_Latn".

    The script is named if one of the other codes has the same language.
    """
    import langcodes  # imported here, since it loads large tables

    language, *script = (_SCRIPTS.get(part, part) for part in code.split("_")[:2])
    is_alone = sum(one.startswith(f"{language}_") for one in codes) < 2
    tag = language if is_alone else "-".join([language, *script])
    return langcodes.Language.get(langcodes.standardize_tag(tag)).display_name()


def make_task(build: Build, split: str, place: str) -> str:
    """Returns the content of a task file, in YAML.

    Args:
      place: The place of the build: a folder, or "hub:owner/name:config" for a build on the Hugging Face hub.

    Raises ValueError if the build does not have the split.
    """
    counts = _normalisers(build, split)
    shape, layout = shape_of(build.manifest), layout_of(build.manifest)
    assert shape
    assert layout  # `write_tasks` chooses builds that have one
    task: dict[str, Any] = {
        "task": name_task(build, split),
        "tag": f"corpusmill_{build.corpus}",
        "dataset_kwargs": {
            "build": place,
            "split": split,
            "column": shape.texts[0],
            # A row of One Billion Word is a line, and models predict its end.
            "end": "" if layout.paragraphs else "\n",
            "words": counts.predicted_words,
            "text_bytes": counts.text_bytes,
        },
        "test_split": split,
        "output_type": "loglikelihood_rolling",
        "doc_to_text": "",
        "doc_to_target": "text",
        "metric_list": [{"metric": name} for name in _METRICS],
        "metadata": {"version": build.manifest["version"], "signature": build.signature},
    }
    text: str = yaml.safe_dump(task, sort_keys=False, allow_unicode=True)
    return text + _FUNCTIONS


def _normalisers(build: Build, split: str) -> Normalisers:
    try:
        counts = read_normalisers({"stats": read_json(build.folder, "stats.json")}, split)
    except ValueError as error:
        raise ValueError(f"{build.folder}: {error}") from None
    if not counts.text_bytes or not counts.words:
        raise ValueError(f"{build.folder}: stats.json has no counts of words and bytes for {split}")
    return counts


_NO_TOKEN = (
    "there is no token for the hub: set HF_TOKEN to a token with write permission, from"
    " https://huggingface.co/settings/tokens"
)
_NO_REPO = (
    "the hub has no such data set, or the token has no access to it; this command creates one:"
    " hf repos create {repo} --repo-type dataset"
)
_REFUSED = {
    401: "the hub does not know the token in HF_TOKEN",
    403: "the token in HF_TOKEN has no permission to write to this data set",
    412: "the data set was changed in the meantime; run the same command again",
}


_PATIENCE_SECONDS = 60  # timeout of requests for metadata; the default of the library is 10
_UNBRACED = {ord(one): None for one in "{}"}


class SharedFile(NamedTuple):
    """A file of a build, and its path in the repository on the hub."""

    place: str  # "uk/20260101-1.3.0/stats.json"
    path: str  # on disk
    bytes: int
    sha256: str  # from the manifest; "" for files that the manifest does not list


class Edition(NamedTuple):
    """A build to upload, with its place in the repository."""

    build: Build
    folder: str  # in the repository: "uk/20260101-1.3.0"
    files: Sequence[SharedFile]

    @property
    def name(self) -> str:
        """The name of the edition and of its config on the hub, such as "uk"."""
        return posixpath.dirname(self.folder)


class Published(NamedTuple):
    """The result of uploading one edition."""

    edition: Edition
    files: int  # number of uploaded files
    bytes: int
    commit: str  # address of the commit; "" if nothing had to be uploaded


def plan(folders: Sequence[str]) -> list[Edition]:
    """Returns the builds to upload: for each edition in `folders` and their subfolders, the current or the
    newest build.

    Raises InputError if there is no finished build, or if one has files that its manifest does not list;
    ValueError if the builds are of several corpora.
    """
    builds = choose_builds(folders)
    above = {posixpath.dirname(posixpath.dirname(build.folder)) for build in builds}
    if len(above) > 1:
        raise ValueError(
            "all builds in a repository must be of one corpus, but these builds are in the folders"
            f" of several corpora: {', '.join(sorted(above))}"
        )
    return [_edition(build) for build in builds]


def publish(repo: str, editions: Sequence[Edition]) -> Iterator[Published]:
    """Uploads editions in order, with one commit for each. Yields the result of each upload.

    Args:
      repo: "owner/name" of a data set on the hub, which must exist.

    Raises ValueError if no access token for the hub is found, InputError for a damaged build, StoreError for
    errors of the hub.
    """
    if not get_token():
        raise ValueError(_NO_TOKEN)
    hub = _Hub(repo, {edition.folder: read_card(edition.build) for edition in editions})
    for edition in editions:
        with _named(repo):
            yield hub.upload(edition)


class _Hub:
    """A repository on the hub. Keeps the cards of its builds in memory."""

    def __init__(self, repo: str, cards: Mapping[str, str]):
        self.repo = repo
        self.api = HfApi(library_name="corpusmill", library_version=VERSION)
        self.cards = dict(cards)  # folder of a build → its card

    def upload(self, edition: Edition) -> Published:
        head = self.api.repo_info(self.repo, repo_type="dataset").sha
        tree = self.api.list_repo_tree(
            self.repo, recursive=True, revision=head, repo_type="dataset"
        )
        there = {one.path: one for one in tree if isinstance(one, RepoFile)}
        wanted = [one for one in edition.files if not _is_there(there.get(one.place), one)]
        additions = [_addition(one) for one in wanted]
        for place, text in self._texts(edition, there, str(head)).items():
            data = text.encode("utf-8")
            if place not in there or there[place].blob_id != _blob_id(data):
                additions.append(CommitOperationAdd(place, data))
        if not additions:
            return Published(edition, 0, 0, "")
        made = self.api.create_commit(
            self.repo,
            additions,
            commit_message=edition.folder,
            commit_description=edition.build.signature,
            repo_type="dataset",
            parent_commit=head,
        )
        size = sum(one.upload_info.size for one in additions)
        return Published(edition, len(additions), size, str(made.commit_url))

    def _texts(self, edition: Edition, there: Mapping[str, RepoFile], head: str) -> dict[str, str]:
        """Returns path in the repository → text, for the card above the builds if it must be written.

        Args:
          there: The files in the repository, by path.
          head: The newest commit of the repository.
        """
        texts = {}
        found = self._read(FOLDER_CARD, head) if FOLDER_CARD in there else ""
        if not found or MARK in found:
            # The card may have been edited, so builds that are not in the repository are ignored.
            known = {
                name: folder
                for name, folder in read_places(found).items()
                if posixpath.join(folder, FOLDER_CARD) in there
            }
            places = known | {edition.name: edition.folder}
            builds = []
            for name, folder in sorted(places.items()):
                if folder not in self.cards:
                    self.cards[folder] = self._read(posixpath.join(folder, FOLDER_CARD), head)
                builds.append(BuildBelow(name, folder, self.cards[folder]))
            if card := make_folder_card(edition.build.corpus, builds, place=self.repo):
                texts[FOLDER_CARD] = card
        return texts

    def _read(self, place: str, head: str) -> str:
        path = self.api.hf_hub_download(
            self.repo, place, repo_type="dataset", revision=head, etag_timeout=_PATIENCE_SECONDS
        )
        return pathlib.Path(path).read_text("utf-8")


_DIFFERS = "differs from the manifest: run `corpusmill verify` for the details"


def _edition(build: Build) -> Edition:
    if not is_local(build.folder):
        raise ValueError(
            f"{build.folder}: only builds on a local disk can be uploaded; copy this build to a"
            " local disk"
        )
    shape = shape_of(build.manifest)
    withheld = shape.withheld if shape else ""
    if withheld and withheld in {file["split"] for file in build.manifest["outputs"]}:
        raise ValueError(
            f"{build.folder}: the build has the split {withheld}, which must not be published"
        )
    if unlisted := find_unlisted(build):
        names = ", ".join(repr(path.removeprefix(f"{build.folder}/")) for path in unlisted)
        raise InputError(
            build.folder,
            f"nothing is uploaded, because these files are not in the manifest: {names}; move them elsewhere",
        )
    folder = "/".join(build.folder.split("/")[-2:])
    sums = {file["name"]: (file["bytes"], file["sha256"]) for file in build.manifest["outputs"]}
    files = []
    for path in sorted(files_below(build.folder)):
        name = path.removeprefix(f"{build.folder}/")
        size = pathlib.Path(path).stat().st_size
        listed, sha256 = sums.pop(name, (size, ""))
        if listed != size:
            raise InputError(path, _DIFFERS)
        files.append(SharedFile(f"{folder}/{name}", path, size, sha256))
    if sums:
        raise InputError(path_below(build.folder, min(sums)), "no such file: the build is damaged")
    return Edition(build, folder, files)


def _is_there(found: RepoFile | None, file: SharedFile) -> bool:
    if found is None or found.size != file.bytes:
        return False
    if found.lfs:
        return bool(found.lfs.sha256 == (file.sha256 or _sha256_of(file)))
    return bool(found.blob_id == _blob_id(pathlib.Path(file.path).read_bytes()))


def _addition(file: SharedFile) -> CommitOperationAdd:
    """Returns the operation that uploads a file. Raises InputError if the file differs from the manifest."""
    if file.sha256 and _sha256_of(file) != file.sha256:
        raise InputError(file.path, _DIFFERS)
    return CommitOperationAdd(file.place, file.path)


def _sha256_of(file: SharedFile) -> str:
    with pathlib.Path(file.path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _blob_id(data: bytes) -> str:
    """Returns the id that git gives to a file with this content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


@contextlib.contextmanager
def _named(repo: str) -> Iterator[None]:
    """Replaces errors of the hub in the `with` block by a StoreError.

    Its message is one line with the name of the repository.
    """
    try:
        yield
    except (InputError, ValueError):
        raise
    except Exception as error:  # the libraries raise many types of errors
        cause = error.__cause__ if isinstance(error.__cause__, HfHubHTTPError) else error
        raise StoreError(repo, _explain(cause).format(repo=repo)) from error


def _explain(error: BaseException) -> str:
    if not isinstance(error, HfHubHTTPError):
        return f"the hub cannot be reached: {_first_line(str(error)) or type(error).__name__}"
    status = error.response.status_code
    if isinstance(error, RepositoryNotFoundError) and status != 401:
        return _NO_REPO
    said = error.server_message or str(error)
    return _REFUSED.get(status) or f"the hub returned the status {status}: {_first_line(said)}"


def _first_line(text: str) -> str:
    return next(iter(text.splitlines()), "").translate(_UNBRACED)

"""Links of the documents lead to files and headings that exist, and files that they name exist."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from corpusmill.pipelines.run.corpora import rows

ROOT = Path(__file__).parents[1]
FOLDERS = ("pipelines", "transforms", "deploy", "tests")
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"] + [
    str(path.relative_to(ROOT))
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*.md"))
    if not {"golden", "golden_toy"} & {*path.parts}
]

PATH = re.compile(rf"(?:(?:{'|'.join(FOLDERS)})/|\.\./)[\w./*-]+")


def without_code(text: str) -> str:
    """The text without blocks of code, whose lines are no headings or links."""
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors_of(path: Path) -> set[str]:
    """The anchors that GitHub gives the headings."""
    headings = re.findall(r"^#+ (.+)$", without_code(path.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).strip().replace(" ", "-") for one in headings}


def broken_links(document: str) -> Iterator[str]:
    """Relative links whose file or heading is not there."""
    text = without_code((ROOT / document).read_text("utf-8"))
    for target in re.findall(r"\]\(([^()\s]+)\)", text):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        path = (ROOT / document).parent / name if name else ROOT / document
        if not path.exists() or (anchor and anchor not in anchors_of(path)):
            yield target


def missing_paths(document: str) -> Iterator[str]:
    """Paths, as code, that are not in the repository."""
    for name in re.findall(r"`([^`\s]+)`", without_code((ROOT / document).read_text("utf-8"))):
        folder = (ROOT / document).parent if name.startswith("../") else ROOT
        if PATH.fullmatch(name) and not any(folder.glob(name.rstrip("/"))):
            yield name


@pytest.mark.parametrize("document", DOCUMENTS)
def test_paths_exist(document: str) -> None:
    assert not list(missing_paths(document))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    assert not list(broken_links(document))


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 150


def test_documents_and_help_name_no_version_of_a_build() -> None:
    """A new version would make them wrong: they say `20261101-*` or `20261101-<version>`."""
    build = re.compile(r"(?:\b(?:\d{4,8}|undated|latest)-|\bv:|version\": b\")\d+\.\d+\.\d+")
    documents = {
        (document, name)
        for document in DOCUMENTS
        if document != "CHANGELOG.md"
        for name in build.findall((ROOT / document).read_text("utf-8"))
    }
    assert not documents
    versions = {name: row.classes()[0].release.version for name, row in rows().items()}
    for name, version in versions.items():
        path = re.compile(rf"\b{name}/\S+-{re.escape(version)}\b")
        modules = (
            one for folder in ("pipelines", "transforms") for one in (ROOT / folder).rglob("*.py")
        )
        assert [str(one) for one in modules if path.search(one.read_text("utf-8"))] == []


def test_commands_for_the_published_news_name_the_perl_that_made_it() -> None:
    """The published shards of One Billion Word are of Perl 5.14, and 5.36 is the default."""
    archive = r"[^\n]*corpusmill lm1b --input training-monolingual\.tgz [^\n]*"
    checks = r"[^\n]*verify [^\n]*(?:\\\n[^\n]*)?README\.corpus_generation_checkpoints[^\n]*"
    files = [ROOT / name for name in DOCUMENTS] + [
        *(ROOT / "pipelines").glob("*.py"),
        *(ROOT / "pipelines" / "inspect").glob("*.py"),
    ]
    named = [
        command
        for path in files
        for command in re.findall(f"{archive}|{checks}", path.read_text("utf-8"))
    ]
    assert len(named) >= 4
    assert [command for command in named if "5.14" not in command] == []


def test_documents_claim_no_build_of_the_published_news() -> None:
    """Nobody has built the 11 GB: what was compared is in lm1b.md."""
    for document in DOCUMENTS:
        assert "published shards byte for byte" not in (ROOT / document).read_text("utf-8")
    assert "was not rebuilt here" in (ROOT / "pipelines/docs/lm1b.md").read_text("utf-8")

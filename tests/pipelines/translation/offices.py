"""A project manager who works by the command, and translations that are good."""

import csv
from collections.abc import Iterable
from pathlib import Path

from corpusmill.pipelines.translation.project import Project, open_project
from corpusmill.transforms.files.markup import write_table
from tests.pipelines.translation.small_projects import IDS, Ran, run, source_file, state_of


def read_packet(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """The columns and rows of a packet's table, or of a review sheet."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, dialect="excel-tab")
        rows = list(reader)
    return list(rows[0]), rows


def target_of(columns: Iterable[str]) -> str:
    return next(name for name in columns if name.startswith("target"))


class Office:
    """A project manager with a folder for what goes out and one for what comes in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project_folder = folder / "project"

    def do(self, action: str, *arguments: object, status: int = 0) -> Ran:
        ran = run(action, "--project", self.project_folder, *arguments)
        assert ran.status == status, ran.err + ran.out
        return ran

    def make(self, languages: str = "fra", *rules: object) -> None:
        source = ("--source", source_file(self.folder), "--review-share", "1/2", *rules)
        self.do("packets", "--languages", languages, *source)

    def make_sheets(self) -> None:
        """A project whose translations have passed the checks, and whose sheets are with reviewers."""
        self.make()
        self.do("import", self.translate(good()))
        self.do("check")
        self.do("review", "--sheets")

    @property
    def project(self) -> Project:
        return open_project(str(self.project_folder))

    def newest_file(self, pattern: str, code: str = "fra") -> Path:
        return max(self.project.journal(code).glob(f"*/{pattern}"))

    def translate(self, texts: dict[str, str], default: str = "", code: str = "fra") -> Path:
        """The newest packet, with targets filled in."""
        packet = self.newest_file(f"{code}-round*.tsv", code)
        columns, rows = read_packet(packet)
        target = target_of(columns)
        for row in rows:
            row[target] = texts.get(row["id"], default or row[target])
        path = self.folder / f"back-{packet.parent.name}.tsv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, "excel-tab", lineterminator="\n", quoting=csv.QUOTE_ALL)
            writer.writerows([columns, *(row.values() for row in rows)])
        return path

    def review(self, errors: dict[str, tuple[str, str]], reviewer: str, only: int = 99) -> Path:
        """The newest sheet, with errors put in and all else marked "ok"."""
        sheet = self.newest_file("*-review-*.tsv")
        columns, rows = read_packet(sheet)
        for row in rows[:only]:
            row["category"], row["severity"] = errors.get(row["id"], ("ok", ""))
            row["comment"] = "see the guide" if row["id"] in errors else ""
            row["reviewer"] = reviewer
        path = self.folder / f"review-{reviewer}.tsv"
        path.write_text(write_table(columns, (list(r.values()) for r in rows)), "utf-8")
        return path

    def state(self, code: str = "fra") -> str:
        return state_of(self.project, code).name


def good(extra: str = "") -> dict[str, str]:
    return {name: f"Phrase {name}.{extra}" for name in IDS}

import jinja2
import pytest
import yaml

from corpusmill.transforms.files import markup
from tests.tools.case_tables import read_cases


def test_a_table_marks_thousands_and_leaves_words_as_they_are() -> None:
    assert markup.make_table(
        ["split", "rows", "share"], [["train", 12345, "99.5 %"], ["test", 6, "–"]]
    ) == [
        "| split | rows | share |",
        "|---|---:|---:|",
        "| train | 12,345 | 99.5 % |",
        "| test | 6 | – |",
    ]


def test_splits_have_a_row_with_all_integers() -> None:
    counts = {"dev": {"long_lines": 1234, "share": 0.5}, "all": {"long_lines": 2, "by": {}}}
    rows = "|---|---:|\n| dev | 1,234 |\n| all | 2 |"
    assert markup.table_by_split(counts, counts) == f"| split | long lines |\n{rows}"
    assert markup.table_by_split(counts, counts, words=False) == f"| split | long_lines |\n{rows}"


def test_a_template_must_have_all_its_facts() -> None:
    assert markup.render("citation", citation="") == [""]
    with pytest.raises(jinja2.UndefinedError, match="'citation' is undefined"):
        markup.render("citation")


def test_the_head_names_language_and_files() -> None:
    assert "\n".join(markup.hub_head("other", "zh-tw", ["train", "test"])) == (
        "---\nlicense: other\nlanguage: zh\nconfigs:\n- config_name: zh-tw\n  data_files:\n"
        "  - split: train\n    path: train-*.parquet\n  - split: test\n    path: test-*.parquet\n---"
    )


@pytest.mark.parametrize(
    ("rows", "category"), read_cases("files/markdown", "sizes_are_categories_of_the_hub")
)
def test_sizes_are_categories_of_the_hub(rows: int, category: str) -> None:
    assert markup.size_category(rows) == category


def test_the_head_says_by_what_the_hub_finds_it() -> None:
    head = markup.CardHead(
        license="x",
        language="uk",
        pretty_name="Wiki-40B",
        tags=["wikipedia"],
        task_categories=["text-generation"],
        size_categories=["n<1K"],
        configs=[markup.config_of("uk", {})],
    )
    assert "\n".join(markup.yaml_head(head)) == (
        "---\nlicense: x\nlanguage: uk\npretty_name: Wiki-40B\ntags:\n- wikipedia\n"
        "task_categories:\n- text-generation\nsize_categories:\n- n<1K\n"
        "configs:\n- config_name: uk\n  data_files: []\n---"
    )


@pytest.mark.parametrize(
    "text",
    [
        "no",
        "on",
        "1.0",
        "2026-01-01",
        "~",
        "a: b # c",
        "- x",
        "'",
        "é…" * 99,
        "a\n---\nb",
        "a\u2028b",
    ],
)
def test_a_text_stays_the_text_that_it_is(text: str) -> None:
    configs = [markup.config_of(text, {text: text}, is_default=True)]
    head = "\n".join(
        markup.yaml_head(markup.CardHead(license=text, language=[text, "uk"], configs=configs))
    )
    assert "\n---\n" not in head
    assert yaml.safe_load(head.removeprefix("---\n").removesuffix("---")) == {
        "license": text,
        "language": [text, "uk"],
        "configs": [
            {"config_name": text, "default": True, "data_files": [{"split": text, "path": text}]}
        ],
    }

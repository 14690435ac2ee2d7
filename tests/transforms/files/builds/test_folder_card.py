import pytest
import yaml

from corpusmill.transforms.files.builds.dataset_card import (
    MARK,
    BuildBelow,
    make_folder_card,
)
from corpusmill.transforms.files.markup import CardHead, config_of, hub_head, render, yaml_head
from tests.tools.case_tables import read_cases


def build(name: str, edition: str, folder: str = "", license_id: str = "cc0-1.0") -> BuildBelow:
    card = "\n".join([*hub_head(license_id, edition, ["train", "test"]), "", "# Title", ""])
    return BuildBelow(name, folder or f"{name}/1.0.0", card)


def test_each_build_is_loaded_by_its_name() -> None:
    assert make_folder_card("wiki40b", [build("no", "no"), build("zh-tw", "zh-tw")]) == (
        "---\nlicense: cc0-1.0\nlanguage:\n- 'no'\n- zh\nconfigs:\n"
        "- config_name: 'no'\n  data_files:\n"
        "  - split: train\n    path: no/1.0.0/train-*.parquet\n"
        "  - split: test\n    path: no/1.0.0/test-*.parquet\n"
        "- config_name: zh-tw\n  data_files:\n"
        "  - split: train\n    path: zh-tw/1.0.0/train-*.parquet\n"
        "  - split: test\n    path: zh-tw/1.0.0/test-*.parquet\n"
        f"---\n\n{MARK}\n\n# wiki40b\n\n"
        "Hugging Face `datasets` loads each of the builds by its name:\n\n"
        '```python\nimport datasets\n\ndatasets.load_dataset("<this folder>", "no")\n```\n\n'
        "- `no`: [no/1.0.0](no/1.0.0/README.md)\n"
        "- `zh-tw`: [zh-tw/1.0.0](zh-tw/1.0.0/README.md)\n"
    )


def test_the_default_is_loaded_without_a_name() -> None:
    card = make_folder_card("wiki40b, uk", [build("2", "uk", "2"), build("1", "uk", "1")], "2")
    head = yaml.safe_load(card.split("---\n")[1])
    assert head["language"] == "uk"
    assert [config.get("default") for config in head["configs"]] == [True, None]
    assert "by its name, and `2` without a name:\n" in card


def test_what_differs_is_listed() -> None:
    configs = [config_of("default", {"dev": "dev-*"})]
    several = "\n".join(yaml_head(CardHead(license="x", language=["en", "no"], configs=configs)))
    card = make_folder_card("c", [build("a", "en"), BuildBelow("b", "b [1]", f"{several}\n")])
    head = yaml.safe_load(card.split("---\n")[1])
    assert (head["license"], head["language"]) == (["cc0-1.0", "x"], ["en", "no"])
    assert head["configs"][1] == {
        "config_name": "b",
        "data_files": [{"split": "dev", "path": "b [[]1]/dev-*"}],
    }


def test_what_builds_say_of_themselves_is_said_once() -> None:
    def listed(name: str, size: str, paper: str) -> BuildBelow:
        about = {"pretty_name": "Wiki-40B", "tags": ["wikipedia"], "size_categories": [size]}
        lines = hub_head("x", name, ["train"], **about)
        return BuildBelow(
            name, name, "\n".join([*lines, "", "# T", *render("citation", citation=paper), ""])
        )

    builds = [listed("en", "1M<n<10M", "@a{b}"), listed("no", "n<1K", "@a{b}"), build("z", "z")]
    card = make_folder_card("c", builds)
    head = yaml.safe_load(card.split("---\n")[1])
    assert (head["pretty_name"], head["tags"]) == ("Wiki-40B", ["wikipedia"])
    assert head["size_categories"] == ["1M<n<10M", "n<1K"]
    assert card.endswith("(z/1.0.0/README.md)\n\n## Citation\n\n```bibtex\n@a{b}\n```\n")


def test_norwegian_of_an_older_card() -> None:
    old = build("no", "no")
    old = old._replace(card=old.card.replace("'no'", "no"))
    assert make_folder_card("c", [old]) == make_folder_card("c", [build("no", "no")])


@pytest.mark.parametrize(
    "card", read_cases("files/folder_card", "what_has_no_files_to_load_is_left_out")
)
def test_what_has_no_files_to_load_is_left_out(card: str) -> None:
    silent = BuildBelow("x", "x/1.0.0", card)
    assert make_folder_card("c", [silent]) == ""
    assert make_folder_card("c", [silent, build("a", "en")], "x") == make_folder_card(
        "c", [build("a", "en")]
    )

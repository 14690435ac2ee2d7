from transforms.text.files.markdown import hub_head, make_list, make_table


def test_a_table_marks_thousands_and_leaves_words_as_they_are() -> None:
    assert make_table(
        ["split", "rows", "share"], [["train", 12345, "99.5 %"], ["test", 6, "–"]]
    ) == [
        "| split | rows | share |",
        "|---|---:|---:|",
        "| train | 12,345 | 99.5 % |",
        "| test | 6 | – |",
    ]


def test_a_list_without_sentences_is_not_there() -> None:
    assert make_list("To know:", ["One.", "Two."]) == ["", "To know:", "", "- One.", "- Two."]
    assert make_list("To know:", []) == []


def test_the_head_names_language_and_files() -> None:
    assert "\n".join(hub_head("other", "zh-tw", ["train", "test"])) == (
        "---\nlicense: other\nlanguage: zh\nconfigs:\n- config_name: zh-tw\n  data_files:\n"
        "  - split: train\n    path: train-*.parquet\n  - split: test\n    path: test-*.parquet\n---"
    )

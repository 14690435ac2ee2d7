import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpusmill.pipelines.translation.packet_files import (
    NO_NAME,
    PacketName,
    format_name,
    parse_name,
)
from tests.pipelines.translation.samples import line, packet_of
from tests.tools.case_tables import read_cases


def test_name_of_a_packet() -> None:
    packet = packet_of(line("dev-0001", "a"))
    assert format_name(packet) == "flores/zho_simpl/round2/packet3"


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    st.integers(1, 999_999),
    st.integers(1, 999_999),
)
@example("a/b %2F ü\n", 1, 1)
def test_a_name_tells_its_packet(project: str, round_: int, number: int) -> None:
    packet = packet_of(project=project)._replace(round=round_, number=number)
    name = format_name(packet)
    assert name.isascii()
    assert name.split() == [name]
    assert parse_name(name) == PacketName(project, "zho_simpl", round_, number)


@pytest.mark.parametrize(
    "name",
    read_cases("translation/sheet", "no_names"),
)
def test_what_is_no_name_tells_nothing(name: str) -> None:
    assert parse_name(name) == NO_NAME == PacketName("", "", 0, 0)

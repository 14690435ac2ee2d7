"""Packets for the tests, with texts that formats and tools trip over."""

from corpusmill.pipelines.translation.packet_files import Packet, PacketLine, Returned
from corpusmill.pipelines.translation.target_languages import TargetLanguage
from corpusmill.transforms.files.records import SourceSentence
from tests.tools.case_tables import read_cases

ARABIC = TargetLanguage("ara", "Arabic", "ar", ("Arab",), True)
CHINESE = TargetLanguage("zho_simpl", "Chinese (Simpl)", "zh-Hans", ("Hani",), False)

TRICKY_TEXTS = tuple(read_cases("translation/samples", "tricky_texts"))
CONTROLS = ("a\rb\r\nc\nd\te", "controls \x01 \x0b \x1f \ufffe \uffff")


def line(
    id_: str, text: str, target: str = "", reasons: tuple[str, ...] = (), article: int = 1
) -> PacketLine:
    """A sentence to translate, of the split that its id tells."""
    place = id_.partition("-")[0], f"wikinews:{article}"
    url = f"https://en.wikinews.org/wiki/?curid={article}&x='1'"
    source = SourceSentence(id_, *place, text, url, "wikinews", "politics", True, False)
    return PacketLine(source, target, reasons)


def packet_of(*lines: PacketLine, project: str = "flores") -> Packet:
    """The packet of these lines, a third of its second round."""
    return Packet(project, CHINESE, 2, 3, lines)


def tricky_packet(texts: tuple[str, ...]) -> Packet:
    """Each text as a source without target, and as a target, in two splits and articles of three."""
    lines = []
    for split in ("dev", "devtest"):
        for number, text in enumerate(texts, 1):
            article = number // 3
            lines.append(line(f"{split}-{number:04d}", text, article=article))
            done = line(f"{split}-{number + 5000}", texts[-number], text, article=article)
            lines.append(done._replace(reasons=("numbers-differ: 3 < 4",) if number % 2 else ()))
    return packet_of(*lines, project="flores 101/ü")


def check_returned(returned: Returned, packet: Packet) -> None:
    """The file holds all that the packet does."""
    assert returned.name == (packet.project, packet.language.code, packet.round, packet.number)
    assert returned.sources == {each.source.id: each.source.text for each in packet.lines}
    expected = {each.source.id: each.target for each in packet.lines if each.target}
    assert {each.id: each.text for each in returned.translations} == expected

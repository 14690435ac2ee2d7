"""Makes and sends packets: files for translators with all sentences or, later, with the lines to correct."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from corpusmill.transforms.files.terminal import count_of
from corpusmill.transforms.files.text import grouped

from . import journal
from .checks import dispute_of, open_errors
from .journal import Draft, Entry, Sent, paths_of
from .language_state import LanguageState, locked_state
from .packet_files import SUFFIX, Packet, PacketLine, write_guidelines, write_sheet
from .project import Project
from .reviews import current_reviews
from .target_languages import TargetLanguage
from .xliff import write_xliff, write_xliff_1

WRITERS: Mapping[str, tuple[str, Callable[[Packet], bytes]]] = {  # format → suffix, function
    "xliff": (".xlf", write_xliff),
    "xliff1.2": ("-1.2.xlf", write_xliff_1),
    "tsv": (".tsv", lambda packet: write_sheet(packet).encode("utf-8")),
}
FORMATS = ("xliff", "tsv")  # those of a packet by default
Reasons = Mapping[str, Sequence[str]]  # id → reasons why the line is sent back


class Plan(NamedTuple):
    """A packet that must be sent next."""

    round: int
    reasons: Reasons
    ids: Sequence[str]  # ids of the lines, in order
    why: str  # message for the user who sends the packet
    editing: bool = False  # for an editor of the present translations


def send_packets(
    project: Project,
    languages: Iterable[TargetLanguage],
    *,
    formats: Sequence[str] = FORMATS,
    to: str = "",
    by: str = "",
    edit: bool = False,
) -> list[Sent]:
    """Sends packets: adds one to the journal of each language that has lines to send. Returns a result per
    language.

    Args:
      formats: the file formats in which each packet is written; each is one of WRITERS.
      to: folder for copies of the files; "" to make no copies.
      by: name of the person who sends the packets.
      edit: whether to send the present translations to an editor.

    Raises TargetError if `to` has a file with the same name and other content. Packets that were already
    added for other languages are kept.
    """
    return [_send(project, language, formats, to, by, edit) for language in languages]


def _send(
    project: Project,
    language: TargetLanguage,
    formats: Sequence[str],
    to: str,
    by: str,
    edit: bool,
) -> Sent:
    with locked_state(project, language.code) as state:
        plan = plan_editing(state) if edit else plan_packet(state)
        if isinstance(plan, Plan):

            def make_draft(number: int) -> Draft:
                draft = _draft(project, language, state, plan, number, formats)
                journal.check_copies(to, draft.files)
                return draft

            entry = journal.append(project.journal(language.code), by, state.last, make_draft)
            return Sent(language.code, entry, f"{entry.name} sent: {plan.why}", paths_of(entry, to))
        out = state.newest("packet") if state.awaited else None
        if out and edit and out.number not in state.editing:
            out = None
        return Sent(language.code, out, plan, paths_of(out, to) if out else [])


def plan_packet(state: LanguageState) -> Plan | str:
    """Returns the packet to send next for a language, or the reason why nothing is sent."""
    if not (packet := state.newest("packet")):
        return Plan(1, {}, state.ids, f"round 1, all {len(state.ids):,} sentences")
    if state.verdict and not state.verdict.facts["accepted"]:
        number = state.round + 1
        shown = state.verdict.facts["shown"]
        why = f"round {number}, all {len(state.ids):,} sentences: reviewers scored {shown}"
        return Plan(number, reasons_of_reviewers(state), state.ids, why)
    if state.check:
        return _plan_after(state, state.check)
    if state.number_of("import") > packet.number:
        return "nothing sent: the imported translations are not checked yet; run `check`"
    return f"nothing sent: packet {packet.name} was sent, and no answer was imported yet"


def _plan_after(state: LanguageState, check: Entry) -> Plan | str:
    errors = open_errors(check)
    if not errors and (state.is_accepted or not state.refused):
        if state.is_accepted:
            return "nothing sent: the language is accepted"
        return f"nothing sent: check {check.name} has passed; the next step is `review`"
    reasons = grouped((one.id, f"{one.rule}: {one.message}") for one in errors if one.id)
    of_all = [f"{finding.rule}: {finding.message}" for finding in errors if not finding.id]
    refused = state.refused
    lacking = [name for name in state.ids if name in reasons or name in refused]
    ids = state.ids if of_all or not lacking else lacking
    if of_all:  # findings about the whole file are added to the first line
        reasons[ids[0]] = [*of_all, *reasons.get(ids[0], ())]
    found = f"with errors in check {check.name}{' or refused by `import`' if refused else ''}"
    why = f"round {state.round} again, {count_of(len(ids), 'sentence')} {found}"
    return Plan(state.round, reasons, ids, why)


def plan_editing(state: LanguageState) -> Plan | str:
    """Returns the packet for an editor, or the reason why nothing is sent.

    It has all lines that were translated, but not edited since then.
    """
    if state.name in ("checks failed", "in review", "sent back", "accepted"):
        return f"nothing sent to an editor: {state.name}; `status` names the next step"
    left_out = state.awaited.difference(state.refused).union(state.edited)
    ids = [name for name in state.answers if name not in left_out]
    if not ids:
        packet = state.newest("packet")
        if packet and state.name == "in editing":
            return f"nothing sent: packet {packet.name} is with an editor, and was not imported yet"
        found = "all translations are edited" if state.edited else "no translation was imported yet"
        return f"nothing sent to an editor: {found}"
    reasons = {
        name: (f"disputed: {dispute_of(name, state.answers[name]).message}",)
        for name in ids
        if name in state.disputed
    }
    count = f"{'all ' if len(ids) == len(state.ids) else ''}{count_of(len(ids), 'sentence')}"
    return Plan(state.round, reasons, ids, f"round {state.round}, {count} for an editor", True)


def reasons_of_reviewers(state: LanguageState) -> Reasons:
    """Returns id of a sentence → the errors that reviewers have marked in it in the current round."""
    reasons: dict[str, list[str]] = {}
    for sheet in current_reviews(state):
        for error in sheet.errors:
            said = f"{error.severity} {error.category}"
            comment = " ".join(error.comment.split())
            reasons.setdefault(error.id, []).append(f"{said}: {comment}" if comment else said)
    return reasons


def _draft(
    project: Project,
    language: TargetLanguage,
    state: LanguageState,
    plan: Plan,
    number: int,
    formats: Sequence[str],
) -> Draft:
    wanted = frozenset(plan.ids)
    refused = {name: (f"refused: {why}",) for name, why in state.refused.items()}
    lines = tuple(
        PacketLine(
            source,
            state.translations[source.id].text if source.id in state.translations else "",
            (*plan.reasons.get(source.id, ()), *refused.get(source.id, ())),
        )
        for source in project.sentences
        if source.id in wanted
    )
    packet = Packet(project.key, language, plan.round, number, lines, plan.editing)
    is_first = plan.round != state.round
    stem = f"{language.code}-round{plan.round}{'' if is_first else f'-{journal.name_of(number)}'}"
    stem += "-editing" if plan.editing else ""
    written = (WRITERS[name] for name in formats)
    contents = {f"{stem}{suffix}": write(packet) for suffix, write in written}
    contents[f"{stem}{SUFFIX}"] = write_guidelines(packet, stem)
    facts = {
        "ids": [] if len(lines) == len(state.ids) else [line.source.id for line in lines],
        "lines": len(lines),
        "why": plan.why,
        **({"editing": True} if plan.editing else {}),
        "files": {name: journal.sha256_of(data) for name, data in contents.items()},
    }
    return Draft("packet", plan.round, facts, contents)

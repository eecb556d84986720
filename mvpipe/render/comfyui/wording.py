"""The director's words before they become part of a prompt, and prompts before they are sent.

H3's prompts have a grammar: labels such as <Picture 1>, marks such as [Shot 1] and (S1), words said inside
<d>. All of it is written by mvpipe, which knows what is wired; in the director's own words it would be
taken for a second opinion, so it is refused with the place where it stands.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from mvpipe.errors import StoryboardError

SECTIONS = (
    "subject_definitions", "summary", "retention_analysis", "detailed_description", "overall_soundscape",
    "non_diegetic_music",
)  # fmt: skip
"""In their order (open_h3_ir 0.4.1, prompts/ref-en.txt)."""

LONGEST = 7_000
"""Characters the hosted service takes (h3_spec.json)."""

_REFUSED: tuple[tuple[str, str, str], ...] = (
    (
        r"</?d>",
        "{0}: words are not put into mouths here",
        "the mouth follows the voice by itself; words that may be said stand under lyric",
    ),
    (r"</?[A-Za-z][^<>]{0,40}>", "{0}: a tag", "mvpipe numbers the references: write the name instead"),
    (r"\(S\d+\)", "{0}: a speaker's mark", "mvpipe marks who sings: write the name alone"),
    (r"\[\s*Shot\s*\d+\s*\]", "{0}: a shot's mark", "one prompt is one shot: describe the others as shots"),
    (
        r"[{}]",
        "a brace: choices in braces are made by ComfyUI's page, and sent as they stand from here",
        "write out the one you mean",
    ),
    (
        rf"\b(?:{'|'.join(SECTIONS[:1] + SECTIONS[2:])})\b|^summary\s*:",
        "{0}: the name of a section",
        "leave it out",
    ),
)  # fmt: skip
"""(pattern, what is said, hint)"""


def tidy(where: str, text: str) -> str:
    """The director's words on one line, blanks folded, without control characters; otherwise as written.

    Parameters
    ----------
    where : the place in the storyboard and the field, for the message

    Raises
    ------
    StoryboardError : they hold something of the prompt's own grammar
    """
    plain = "".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text)
    line = " ".join(unicodedata.normalize("NFC", plain).split())
    for pattern, says, hint in _REFUSED:
        if found := re.search(pattern, line, re.IGNORECASE):
            raise StoryboardError(f"{where}: {says.format(found[0])}", hint=hint)
    return line


def sentence(text: str) -> str:
    """Words with a capital in front and a stop behind; nothing of nothing."""
    if not text:
        return ""
    ended = text if text.rstrip("\"'”’)").endswith((".", "!", "?", "…", "。", "！", "？")) else f"{text}."
    return ended[0].upper() + ended[1:]


def bare(text: str) -> str:
    """Words to stand inside a sentence: without the stop behind."""
    return text.rstrip(" .;,")


def listed(names: list[str]) -> str:
    """`A`, `A and B`, `A, B and C`."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else ""


def faults(text: str, *, pictures: int = 0, videos: int = 0, audios: int = 0) -> list[str]:
    """What is wrong with a whole prompt: tags without input, inputs without tag, sections out of place.

    Parameters
    ----------
    pictures, videos, audios : how many are wired; tags count what is present, from 1
    """
    return [
        *_length_faults(text),
        *_section_faults(text),
        *_tag_faults(text, {"Picture": pictures, "Video": videos, "Audio": audios}),
        *_sound_faults(text),
    ]


def _length_faults(text: str) -> Iterator[str]:
    if len(text) > LONGEST:
        yield f"{len(text)} characters, at most {LONGEST}"
    if found := re.search(r"[{}]", text):
        yield f"a brace, which is sent as it stands: {found[0]}"


def _section_faults(text: str) -> Iterator[str]:
    found = re.findall(rf"^({'|'.join(SECTIONS)}):", text, re.MULTILINE)
    if found != list(SECTIONS):
        missing = [name for name in SECTIONS if name not in found]
        yield f"without {', '.join(missing)}" if missing else f"sections out of order: {', '.join(found)}"
    for name, body in sections(text).items():
        if not body:
            yield f"{name}: empty; N/A says that there is nothing"


def sections(text: str) -> dict[str, str]:
    """The sections of a prompt by name."""
    pieces = re.split(rf"^({'|'.join(SECTIONS)}):", text, flags=re.MULTILINE)
    return {name: body.strip() for name, body in zip(pieces[1::2], pieces[2::2], strict=True)}


def _tag_faults(text: str, wired: dict[str, int]) -> Iterator[str]:
    for kind, many in wired.items():
        named = {int(number) for number in re.findall(rf"<{kind} (\d+)>", text)}
        yield from (f"<{kind} {n}>: nothing is wired for it" for n in sorted(named) if not 1 <= n <= many)
        yield from (f"<{kind} {n}>: wired, and never named" for n in range(1, many + 1) if n not in named)
    subjects = {int(number) for number in re.findall(r"<Subject (\d+)>", text)}
    defined = {int(n) for n in re.findall(r"^<Subject (\d+)> is ", sections(text).get(SECTIONS[0], ""), re.M)}
    yield from (f"<Subject {n}>: never defined" for n in sorted(subjects - defined))


def _sound_faults(text: str) -> Iterator[str]:
    found = sections(text)
    retention = found.get("retention_analysis", "")
    if (copies := len(re.findall(r"^<Audio \d+>: fully_copy\b", retention, re.MULTILINE))) > 1:
        yield f"{copies} audios are fully_copy: each would be the whole track"
    if re.search(r"\(S\d+\)", retention):
        yield "retention_analysis: a speaker's mark, which has no place there"
    if text.count("<d>") != text.count("</d>"):
        yield "<d> and </d> do not pair"
    for said in re.findall(r"<d>(.*?)</d>", text, re.DOTALL):
        if not re.fullmatch(r"\[[^\[\]]+\] .*[.?!]", said):
            yield f"<d>{said}</d>: wanted: <d>[Language] words.</d>, ending in . ? or !"
    for name in ("overall_soundscape", "non_diegetic_music"):
        if "<d>" in found.get(name, ""):
            yield f"{name}: words are said in detailed_description alone"

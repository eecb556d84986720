"""`init`: from a song that was heard to the text of a storyboard worth editing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mvpipe.clock import format_time
from mvpipe.describing import Describing, Row, people
from mvpipe.film import Line, SungLine, Timing
from mvpipe.parts import Named
from mvpipe.plan import Plan, Planned, voice_from
from mvpipe.sound.verse import weight
from mvpipe.storyboard import writing
from mvpipe.storyboard.lyrics import heard_at
from mvpipe.storyboard.styles import Style
from mvpipe.wording import counted

MOST_WORDS = 200
"""Characters of the words above a shot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What the maker said about the film to come.

    Parameters
    ----------
    title : of the film
    lyrics : as it is to stand in the storyboard; empty for none
    cast : name -> picture, both as they are to stand in the storyboard; a picture may be empty
    style : whose look and shots are lent; None for the plain grammar
    schema : the JSON schema for editors, as a relative URL; empty for none
    vocals : the maker's own stem as it is to stand in the storyboard; empty for none
    """

    title: str
    lyrics: str = ""
    cast: Mapping[str, str]
    style: Style | None = None
    schema: str = ""
    vocals: str = ""


def compose(plan: Plan, brief: Brief, found: Sequence[Named], words: Sequence[Line] = ()) -> str:
    """The storyboard as text: it reads without a note and plans as it stands.

    Parameters
    ----------
    plan : the song, cut
    brief : what its maker said
    found : its sections
    words : the lyrics as they were read, for where nobody can say when they are sung
    """
    cast = people(brief.cast, brief.style)
    shots = Describing(cast=cast, style=brief.style, wanted=tuple(brief.cast)).shots(found)
    rows = [row for part in shots for row in part]
    seen = {name for row in rows for name in row.get("cast", ())}
    visited = {row["place"] for row in rows if "place" in row}
    text = [*_head(plan, brief, words), *_look(brief)]
    text += _people({name: row for name, row in cast.items() if name in seen})
    text += [*_places(brief, visited), *_ABOUT_SECTIONS, "sections:"]
    for part, described in zip(found, shots, strict=True):
        text += _section(part, described, plan.lines)
    return "\n".join([*text, "", *_FOOT, ""])


def _head(plan: Plan, brief: Brief, words: Sequence[Line]) -> list[str]:
    song = plan.song
    sung = sum(one.shot.voice * len(one.shot.cut) for one in plan.planned) / plan.frames
    facts = (
        f"{song.path.name}: {format_time(song.seconds)}, {counted(len(plan.shots), 'shot')}, "
        f"sung {sung:.0%}, voice: {voice_from(plan.separator)}"
    )
    rows = [f"# yaml-language-server: $schema={brief.schema}"] if brief.schema else []
    rows += [*writing.comment(facts), "", "mvpipe: 1", f"title: {writing.scalar(brief.title)}"]
    given = f"lyrics: {writing.scalar(brief.lyrics)}"
    rows.append(
        given if brief.lyrics else "# lyrics: words.lrc   # .lrc, .srt or .vtt with times, or plain .txt"
    )
    rows += _unsure(plan.lines, words)
    if brief.vocals:
        rows.append(
            f"sound: {writing.flow({'vocals': brief.vocals})}   # your own stem: nothing is separated"
        )
    return [*rows, ""]


def _unsure(lines: Sequence[SungLine], words: Sequence[Line]) -> list[str]:
    """What to say where nobody knows when the words are sung, and the words that stand at no shot."""
    said = []
    if any(line.timing is Timing.GUESSED for line in lines):
        said += writing.comment(
            "The words carry no times. Where they stand below is a guess by the lengths of lines and "
            "phrases; with an .lrc file they stand where they are sung."
        )
    left = _unplaced(lines, words)
    if left:
        these = "these" if lines else "the words"
        said += writing.comment(
            f"Nobody can say when {these} are sung, so they stand here and not at their shots:"
        )
        said += [f"#   {row[2:]}" for line in left for row in writing.comment(line.text)]
    return said


def _unplaced(lines: Sequence[SungLine], words: Sequence[Line]) -> list[Line]:
    """The lines that are words and found no place, each as often as it found none."""
    placed, left = Counter(line.text for line in lines), []
    for line in words:
        if placed[line.text]:
            placed[line.text] -= 1
        elif weight(line.text):
            left.append(line)
    return left


PLAIN_LOOK = (
    "35 mm film, shallow depth of field, one clear source of light from the side, muted colours and a single "
    "strong one"
)


def _look(brief: Brief) -> list[str]:
    size = brief.style.board.picture.size if brief.style else "1344x768"
    look = brief.style.board.look if brief.style else PLAIN_LOOK
    return [
        "picture:",
        f"  size: {size}          # 768x1344 stands upright; 672x384 is quick to try",
        "",
        "# The look is added to every shot: stock, lens, where the light comes from, which colours.",
        f"look: {writing.value(look, 0)}",
        "",
    ]


def _people(cast: Mapping[str, Row]) -> list[str]:
    if not cast:
        return []
    rows = writing.comment(
        "Who is seen. Say how they look, or, where there is a picture, what it does not show; pictures keep "
        "them the same person in every shot."
    )
    rows.append("cast:")
    for name, row in cast.items():
        rows += [f"  {writing.scalar(name)}:", *writing.lines(row, 4)]
        if "pictures" not in row:
            rows.append(
                "    # pictures: [refs/front.png, refs/left.png]     # a clear face from the front first"
            )
    return [*rows, ""]


def _places(brief: Brief, visited: set[str]) -> list[str]:
    places = brief.style.board.places if brief.style else {}
    rows = []
    for name, place in places.items():
        if name in visited:
            rows += [f"  {writing.scalar(name)}:", *writing.lines({"is": place.description}, 4)]
    example = ["# places:", "#   street: {is: a narrow street of broken neon signs}", ""]
    return ["places:", *rows, ""] if rows else example


_ABOUT_SECTIONS = writing.comment(
    "Below stands a shot for every cut that mvpipe planned: its number, where it begins, how long it is "
    "seen, what is sung in it. What a section describes is dealt over its cuts in order, and again from "
    "the first, newly framed, where there are more cuts: so put shots in, take them out, change every word."
)


def _section(part: Named, described: Sequence[Row], lines: Sequence[SungLine]) -> list[str]:
    cut = part.shots[0].shot.cut
    rows = [f"  - name: {writing.scalar(part.name)}"]
    rows += [f"    start: {writing.moment(cut.start / cut.rate)}", "    shots:"]
    for at, row in enumerate(described):
        if at < len(part.shots):
            rows += _above(part.shots[at], lines)
        first, *rest = writing.lines(row, 8)
        rows += [f"      - {first.lstrip()}", *rest]
    return rows


def _above(planned: Planned, lines: Sequence[SungLine]) -> list[str]:
    """What is known about a shot, as comments above it."""
    shot = planned.shot
    start, stop = shot.cut.start / shot.cut.rate, shot.cut.stop / shot.cut.rate
    words = [line.text for line in lines if start <= (heard_at(line) or line.start) < stop]
    rows = [f"      # {shot.number}  {format_time(start)}  {float(shot.cut.seconds):.1f} s"]
    for text in words:
        short = text if len(text) <= MOST_WORDS else f"{text[: MOST_WORDS - 3]}..."
        rows += writing.comment(f"| {short}", 6)
    return rows


_FOOT = [
    "# Where you have the last word about cuts; `mvpipe edit` writes them for you:",
    '# cuts: {keep: [0:41.2], avoid: ["1:02 - 1:05.5"]}',
    "",
    "# Before a night with a ComfyUI server, `mvpipe doctor` says whether it can film this.",
    "render:",
    "  backend: animatic        # drawn cards on any computer; comfyui films it with MiniMax H3",
    "  takes: 3                 # how often a shot is tried before a grey slug stands in",
    "  seed: 7                  # another number, another film from the same words",
]

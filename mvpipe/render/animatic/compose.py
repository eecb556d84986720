"""The frames of a take, one after another: ground, weather, figures, lettering, clock and line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from mvpipe.film import Slate
from mvpipe.render.animatic import camera, furniture, motion, photo, puppet, voice
from mvpipe.render.animatic.actor import Actor
from mvpipe.render.animatic.board import Board, Person, drawn
from mvpipe.render.animatic.camera import Camera, Mark
from mvpipe.render.animatic.canvas import mix
from mvpipe.render.animatic.clock import Clockface, clockface
from mvpipe.render.animatic.ground import Ground, Weather, falling, ground_for, palette_for, weather
from mvpipe.render.animatic.look import look_of
from mvpipe.render.animatic.palette import Palette
from mvpipe.render.animatic.panel import Panel, Sticker, flat, stickers
from mvpipe.render.animatic.pixels import Pixels
from mvpipe.render.animatic.voice import PerFrame, Samples

FIGURES_DEPTH = 1.35
"""How much more than the ground the figures move with the camera."""

_NEAREST = 1.15  # no camera comes closer to a figure; its sheet is drawn for that


# a face finder takes the clearest face: that must be the one that sings
_BEHIND_BLUR, _BEHIND_LIGHT = 0.035, 0.64


@dataclass(slots=True)
class Shooting:
    """All that is made once for a take."""

    board: Board
    size: tuple[int, int]
    frames: int
    palette: Palette
    camera: Camera
    ground: Ground
    weather: Weather
    actors: list[tuple[Actor, Mark]]
    stickers: list[Sticker]
    clock: Clockface | None


def prepare(slate: Slate, vocal: Samples, pictures: Mapping[str, Path]) -> Shooting:
    """Draw everything that is drawn once."""
    board, size = Board.read(slate.graph), slate.size
    palette = palette_for(board)
    move = camera.move_of(board.camera, slate.seed)
    shot = Camera(move=move, frames=slate.frames, size=size)
    return Shooting(
        board=board,
        size=size,
        frames=slate.frames,
        palette=palette,
        camera=shot,
        ground=ground_for(board, palette, size, pictures),
        weather=weather(falling(board), size, slate.seed),
        actors=_actors(board, slate, palette, vocal),
        stickers=_stickers(board, palette, shot, pictures),
        clock=clockface(size),
    )


def frames(shooting: Shooting) -> Iterator[Pixels]:
    """Each frame as the planes of yuv420p in one array, shape (h * 3 / 2 * w,); it is reused."""
    width, height = shooting.size
    whole, half = width * height, (width // 2) * (height // 2)
    buffer = np.empty(whole + 2 * half, np.uint8)
    planes = (
        buffer[:whole].reshape(height, width),
        buffer[whole : whole + half].reshape(height // 2, width // 2),
        buffer[whole + half :].reshape(height // 2, width // 2),
    )
    for i in range(shooting.frames):
        _paint(shooting, planes, i)
        yield buffer


def _paint(shooting: Shooting, planes: tuple[Pixels, Pixels, Pixels], i: int) -> None:
    shooting.ground.fill(planes, shooting.size, shooting.camera.view(i))
    shooting.weather.fall(planes[0], i)
    zoom, dx, dy = shooting.camera.view(i, FIGURES_DEPTH)
    middle, eyes = shooting.size[0] / 2, shooting.size[1] * 0.42
    for actor, mark in reversed(shooting.actors):
        at = (middle + (mark.x - middle) * zoom + dx, eyes + (mark.y - eyes) * zoom + dy, mark.unit * zoom)
        actor.paint(planes, i, at)
    for part in shooting.stickers:
        part.stick(planes)
    first, last = shooting.board.seen
    if shooting.clock:
        board = shooting.board
        shooting.clock.show(planes, board.start + i, board.pictures_per_second, seen=first <= i < last)
    _line(shooting, planes, min(max((i + 1 - first) / (last - first), 0.0), 1.0))


def _line(shooting: Shooting, planes: tuple[Pixels, Pixels, Pixels], share: float) -> None:
    """How much of what is seen has passed: a thin line along the foot of the picture."""
    width, height = shooting.size
    thick = 2 * max(1, round(furniture.unit(shooting.size) * 0.45))
    end = 2 * round(width * share / 2)
    y, u, v = flat(shooting.palette.accent)
    planes[0][height - thick :, :end] = y
    planes[1][(height - thick) // 2 :, : end // 2] = u
    planes[2][(height - thick) // 2 :, : end // 2] = v


def _actors(board: Board, slate: Slate, palette: Palette, vocal: Samples) -> list[tuple[Actor, Mark]]:
    people = drawn(board)
    if not people:
        return []
    places = camera.marks(len(people), camera.framing_of(board.framing), slate.size, slate.seed)
    singing = mouth(board, slate, vocal)
    quiet = np.zeros(slate.frames), np.full(slate.frames, 0.5)
    return [
        (_actor(person, place, slate, palette, singing if n == 0 else quiet, board), place)
        for n, (person, place) in enumerate(zip(people, places, strict=True))
    ]


def mouth(board: Board, slate: Slate, vocal: Samples) -> tuple[PerFrame, PerFrame]:
    """Opening and spread of the singer's lips, one value a frame."""
    rate = board.pictures_per_second
    if board.mouth == "closed":
        return np.zeros(slate.frames), np.full(slate.frames, 0.5)
    if board.mouth == "frozen":
        return np.full(slate.frames, 0.45), np.full(slate.frames, 0.5)
    if board.mouth == "unrelated":
        return voice.babble(slate.frames, rate, slate.seed)
    late = board.offset_ms / 1000
    opening, spread = voice.articulation(vocal)
    return voice.at_frames(opening, slate.frames, rate, late), voice.at_frames(
        spread, slate.frames, rate, late
    )


def _actor(
    person: Person, mark: Mark, slate: Slate, palette: Palette, lips: tuple[PerFrame, PerFrame], board: Board
) -> Actor:
    below = slate.size[1] - mark.y
    dress = puppet.Dress(
        look=look_of(person.name, person.description),
        ink=palette.ink,
        rim=palette.accent,
        air=mix((0, 0, 0), palette.air, _BEHIND_LIGHT) if mark.behind else palette.air,
        scale=round(mark.unit * 1.06, 1),
        bottom=min(puppet.LOWEST, round(below / mark.unit + 1.0, 1)),
        blur=_BEHIND_BLUR if mark.behind else 0.0,
    )
    own = int.from_bytes(sha256(f"{slate.seed} {person.name}".encode()).digest()[:7])
    held = motion.carriage(slate.frames, board.pictures_per_second, own, facing=mark.facing, effort=lips[0])
    sheet = puppet.sheet(dress)
    return Actor(sheet, held, *lips, _box(mark, sheet, slate.size))


def _box(mark: Mark, sheet: puppet.Sheet, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """Where a figure can appear: left, top, right, bottom in even pixels."""
    unit, side = mark.unit * _NEAREST, sheet.reach + 0.16
    travel = size[0] * 0.034 * FIGURES_DEPTH
    left, top = mark.x - side * unit - travel, mark.y - 2.1 * unit - travel
    right, bottom = mark.x + side * unit + travel, mark.y + (sheet.dress.bottom + 0.2) * unit + travel
    return (
        max(0, 2 * int(left / 2)),
        max(0, 2 * int(top / 2)),
        min(size[0], 2 * int(right / 2)),
        min(size[1], 2 * int(bottom / 2)),
    )


def _stickers(board: Board, palette: Palette, shot: Camera, pictures: Mapping[str, Path]) -> list[Sticker]:
    sheet = Panel.blank(shot.size)
    if board.performance:
        photo.pin(sheet, [(p.name, pictures[p.picture]) for p in drawn(board)[:2] if p.picture])
    words = furniture.Words(
        number=board.number,
        title=board.title,
        look=board.look if len(drawn(board)) < 2 else "",  # heads stand there
        section=board.section,
        prompt=board.prompt,
        lyric=board.lyric,
        slug=_slug(board, shot.move),
    )
    furniture.letter(sheet, words, palette)
    return stickers(sheet.cut())


def _slug(board: Board, move: str) -> str:
    """Framing, place and move in one line, as a shot list has it."""
    framing = (board.framing or camera.framing_of("")) if board.performance else "b-roll"
    return "  ·  ".join(part for part in (framing, board.place, move) if part)

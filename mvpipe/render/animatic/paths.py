"""Shapes to draw with: points written as text, smooth curves through them, pen strokes along them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from mvpipe.render.animatic.pixels import Points

Spots = list[tuple[float, float]]

_STEPS = 10  # points drawn between two that are given


def spots(text: str) -> Spots:
    """Points from `x,y x,y ...`; one with a `!` behind it is a corner (it comes twice)."""
    found: Spots = []
    for word in text.split():
        x, y = word.rstrip("!").split(",")
        found += [(float(x), float(y))] * (2 if word.endswith("!") else 1)
    return found


def flipped(points: Spots | str, side: float = -1) -> Spots:
    """The points with x times `side`: on the other side of the middle, or nearer to it."""
    return [(side * x, y) for x, y in _listed(points)]


def mirrored(half: Spots | str) -> Spots:
    """A right half, listed from top to bottom, with its left half: once round."""
    right = _listed(half)
    return right + [(-x, y) for x, y in reversed(right) if x]


def curve(points: Spots | str) -> Points:
    """A smooth closed line through the points, shape (n, 2)."""
    return _curve(tuple(_listed(points)), True)


def line(points: Spots | str) -> Points:
    """A smooth open line through the points, shape (n, 2)."""
    return _curve(tuple(_listed(points)), False)


def oval(x: float, y: float, across: float, down: float) -> Points:
    """An ellipse around (x, y), by its two radii."""
    t = np.linspace(0, 2 * np.pi, 32, endpoint=False)
    return np.stack([x + across * np.cos(t), y + down * np.sin(t)], 1)


def disc(x: float, y: float, radius: float, squash: float = 1.0) -> Points:
    """A circle, or one pressed to `squash` of its height."""
    return oval(x, y, radius, radius * squash)


def box(left: float, top: float, right: float, bottom: float) -> Points:
    """A rectangle."""
    return np.array([(left, top), (right, top), (right, bottom), (left, bottom)], float)


def stroke(path: Points, width: float, taper: tuple[float, float]) -> Points:
    """The outline of a pen stroke along a line; `taper` is its width at both ends, as a share."""
    step = np.gradient(path, axis=0)
    normal = np.stack([-step[:, 1], step[:, 0]], 1) / (np.linalg.norm(step, axis=1)[:, None] + 1e-9)
    t = np.linspace(0, 1, len(path))
    swell = np.interp(t, [0, 0.35, 0.65, 1], [taper[0], 1, 1, taper[1]])[:, None]
    half = normal * swell * width / 2
    return np.vstack([path + half, (path - half)[::-1]])


def scalloped(edge: Points, bumps: int, depth: float) -> Points:
    """A closed line with so many round locks along it."""
    dense = np.vstack([edge, edge[:1]])
    length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(dense, axis=0), axis=1))])
    t = np.linspace(0, length[-1], bumps * 8, endpoint=False)
    at = np.stack([np.interp(t, length, dense[:, i]) for i in (0, 1)], 1)
    step = np.roll(at, -1, 0) - np.roll(at, 1, 0)
    normal = np.stack([step[:, 1], -step[:, 0]], 1) / (np.linalg.norm(step, axis=1)[:, None] + 1e-9)
    return np.asarray(at + normal * (np.abs(np.sin(np.pi * t / length[-1] * bumps)) * depth)[:, None], float)


def _listed(points: Spots | str) -> Spots:
    return spots(points) if isinstance(points, str) else points


@lru_cache(maxsize=4096)
def _curve(points: tuple[tuple[float, float], ...], closed: bool) -> Points:
    # Catmull-Rom; its tangents at a corner follow the one side that is drawn
    p = np.array(points, float)
    p = np.vstack([p[-1], p, p[:2]]) if closed else np.vstack([p[0], p, p[-1]])
    t = np.linspace(0, 1, _STEPS, endpoint=False)[:, None]
    leaving, arriving, away = t**3 - 2 * t**2 + t, t**3 - t**2, 3 * t**2 - 2 * t**3
    parts = [p[:0]]
    for a, b, c, d in zip(p, p[1:], p[2:], p[3:], strict=False):
        if (b == c).all():
            continue
        leave = c - b if (a == b).all() else (c - a) / 2
        arrive = c - b if (c == d).all() else (d - b) / 2
        parts.append((1 - away) * b + leaving * leave + away * c + arriving * arrive)
    path = np.vstack(parts if closed else [*parts, p[-1:]])
    path.flags.writeable = False  # it is shared
    return path

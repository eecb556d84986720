"""What `init` makes of its options: where it writes, whom it casts, how files are named in the storyboard."""

from __future__ import annotations

import os
import shlex
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from mvpipe.errors import SettingsError

if TYPE_CHECKING:
    from mvpipe.beginning import Brief

SCHEMA = "storyboard.schema.json"


def target(song: Path, out: Path | None) -> Path:
    """The file to write.

    Raises
    ------
    SettingsError : it is there already, or its folder is not
    """
    path = out or Path(f"{song.stem or 'film'}.yaml")
    if os.path.lexists(path):
        raise SettingsError(f"{path}: is there already", hint="name another file: --out FILE")
    if not path.absolute().parent.is_dir():
        raise SettingsError(f"{path.parent}: no such folder", hint="make it first")
    return path


def brief(
    song: Path,
    target: Path,
    *,
    lyrics: Path | None,
    cast: Sequence[str],
    style: str,
    title: str,
    vocals: Path | None = None,
) -> Brief:
    """What the maker said, read and checked before anything takes time.

    Raises
    ------
    SettingsError, StoryboardError : as named
    """
    from mvpipe.beginning import Brief
    from mvpipe.storyboard.lyrics import read_lyrics
    from mvpipe.storyboard.styles import find

    if lyrics:
        read_lyrics(lyrics)
    folder = target.absolute().parent
    return Brief(
        title=_title(title or song.stem),
        lyrics=_named(lyrics, folder) if lyrics else "",
        cast=_cast(cast, folder),
        style=find(style) if style else None,
        schema=quote(f"{target.stem}.mvpipe/{SCHEMA}"),
        vocals=_named(vocals, folder) if vocals else "",
    )


def _title(text: str) -> str:
    """A file's name as a title: `neon_rain` is `Neon Rain`."""
    from mvpipe.storyboard.grammar import capital

    seen = "".join(char if unicodedata.category(char) not in {"Cc", "Cs", "Cn"} else " " for char in text)
    words = unicodedata.normalize("NFC", seen.replace("_", " ")).split()
    return " ".join(map(capital, words)) or "Untitled"


def _cast(given: Sequence[str], folder: Path) -> dict[str, str]:
    from mvpipe.render.animatic.pillow import check_picture
    from mvpipe.storyboard import scalars

    found: dict[str, str] = {}
    for text in given:
        written, equals, picture = text.partition("=")
        try:
            name = scalars.name(written)
        except scalars.Wrong as exc:
            raise SettingsError(f"--cast {text}: {exc}", hint="write --cast mira=refs/mira.png") from exc
        if name in found:
            raise SettingsError(f"--cast {text}: named twice: {name}", hint="keep one")
        if equals and not Path(picture).is_file():
            raise SettingsError(f"--cast {text}: no such picture: {picture}")
        if equals:
            check_picture(Path(picture))
        found[name] = _named(Path(picture), folder) if equals else ""
    return found


def _named(path: Path, folder: Path) -> str:
    """A file as the storyboard names it: from its own folder, so that both may move together."""
    try:
        return Path(os.path.relpath(path.absolute(), folder)).as_posix()
    except ValueError:  # another drive
        return path.absolute().as_posix()


def bare(brief: Brief) -> str:
    """The least storyboard there is: enough to listen and cut."""
    from mvpipe.storyboard import writing

    lyrics = f"lyrics: {writing.scalar(brief.lyrics)}\n" if brief.lyrics else ""
    return f"mvpipe: 1\ntitle: {writing.scalar(brief.title)}\n{lyrics}"


def write(target: Path, text: str, *, schema: Path) -> None:
    """Write the storyboard, and the schema that editors read into the project; nothing is written over.

    Raises
    ------
    SettingsError : the file has come to be there meanwhile, or cannot be written
    """
    from mvpipe.project import write_json
    from mvpipe.storyboard.schema import json_schema

    write_json(schema / SCHEMA, json_schema())
    try:
        with target.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError as exc:
        raise SettingsError(f"{target}: is there already", hint="name another file: --out FILE") from exc
    except OSError as exc:
        raise SettingsError(f"{target}: {(exc.strerror or str(exc)).lower()}", hint="try --out FILE") from exc


def next_steps(song: Path, target: Path, *, separator: str | None, repo: Path | None) -> list[str]:
    """What to do now, as commands to copy; and the recipe for this machine, where its card can be seen.

    Parameters
    ----------
    separator, repo : as they were given, for the cuts would else be others
    """
    from mvpipe.doctor.recipes import find_recipe, suggest_here

    same = ["--separator", separator] if separator else []
    same += ["--demucs-repo", str(repo)] if repo else []
    files = shlex.join([*same, str(song), str(target)])
    steps = [
        f"look at it:  mvpipe plan --open {files}",
        f"change it:   {target} in your editor, or mvpipe edit",
        f"film it:     mvpipe render {files}",
    ]
    recipe = suggest_here(target.absolute().parent)
    if not recipe:
        return [
            *steps,
            "this machine: its graphics card is not visible from here: mvpipe recipe list has them all",
        ]
    return [*steps, f"this machine: {find_recipe(recipe).title}: mvpipe recipe show {recipe}"]

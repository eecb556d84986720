"""A storyboard read from its file, with the place of every value at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from mvpipe.errors import StoryboardError
from mvpipe.storyboard.files import read_text, resolve
from mvpipe.storyboard.models import Storyboard
from mvpipe.storyboard.nodes import compose
from mvpipe.storyboard.problems import FieldPath, Note, Problem, dotted, fail
from mvpipe.storyboard.reading import Marks, read
from mvpipe.storyboard.scalars import Stretch


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """Somebody in the cast, with the files that pin how they look and sound as absolute paths."""

    name: str
    description: str
    pictures: tuple[Path, ...] = ()
    videos: tuple[Path, ...] = ()
    voice: Path | None = None
    sings: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenery:
    """A place, with the files that pin how it looks as absolute paths."""

    name: str
    description: str
    pictures: tuple[Path, ...] = ()
    videos: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A storyboard and where it came from.

    Two are equal if they say the same film of the same files; blanks, comments, quotes and the order
    of keys, and so the marks, make no difference.

    Parameters
    ----------
    storyboard : what it says
    path : the file, as it was named
    marks : where every key and value stands
    notes : what was noticed while reading
    """

    storyboard: Storyboard
    path: Path
    marks: Marks = field(compare=False, repr=False)
    notes: tuple[Note, ...] = field(default=(), compare=False, repr=False)

    @property
    def cast(self) -> Mapping[str, Member]:
        """The cast by name, in the order of the file."""
        return {
            name: Member(
                name=name,
                description=member.description,
                pictures=self._files(member.pictures),
                videos=self._files(member.videos),
                voice=self._file(member.voice),
                sings=member.sings,
            )
            for name, member in self.storyboard.cast.items()
        }

    @property
    def places(self) -> Mapping[str, Scenery]:
        """The places by name, in the order of the file."""
        return {
            name: Scenery(
                name=name,
                description=place.description,
                pictures=self._files(place.pictures),
                videos=self._files(place.videos),
            )
            for name, place in self.storyboard.places.items()
        }

    @property
    def lyrics(self) -> Path | None:
        """The lyrics file."""
        return self._file(self.storyboard.lyrics)

    @property
    def vocals(self) -> Path | None:
        """The vocal stem the maker brought."""
        return self._file(self.storyboard.sound.vocals)

    @property
    def voices(self) -> Mapping[str, Path]:
        """Recordings of all who sing, where they are to be told by them; else empty."""
        if self.storyboard.sound.singers == "named":
            return {}
        return {name: one.voice for name, one in self.cast.items() if one.sings and one.voice}

    @property
    def repo(self) -> Path | None:
        """The folder of Demucs models."""
        return self._file(self.storyboard.sound.repo)

    @property
    def aligner(self) -> Path | None:
        """The folder of the network that hears letters."""
        return self._file(self.storyboard.sound.aligner)

    @property
    def keep(self) -> tuple[Fraction, ...]:
        """Seconds at which a cut must fall, in order, each once."""
        return tuple(sorted(set(self.storyboard.cuts.keep)))

    @property
    def avoid(self) -> tuple[Stretch, ...]:
        """Stretches in which no cut may fall, in order."""
        return tuple(sorted(self.storyboard.cuts.avoid))

    @property
    def moved(self) -> Mapping[int, Fraction]:
        """Shot number to the second it was moved to, in order."""
        return dict(sorted(self.storyboard.cuts.at.items()))

    def where(self, *path: str | int) -> str:
        """`file:line:column: field` of a value, for messages."""
        mark = self.marks.value(path)
        return f"{self.path}:{mark.line}:{mark.column}: {dotted(path) or 'storyboard'}"

    def origin(self, *path: str | int) -> str:
        """`file:line` of a value, for cards."""
        return f"{self.path}:{self.marks.value(path).line}"

    def note(self, path: FieldPath, text: str) -> Note:
        """A note about a value."""
        return Note(self.where(*path), text)

    def problem(self, path: FieldPath, text: str, hint: str = "") -> Problem:
        """A problem with a value."""
        return Problem(mark=self.marks.value(path), field=dotted(path) or "storyboard", text=text, hint=hint)

    def fail(self, *problems: Problem) -> StoryboardError:
        """The error that says these problems."""
        return fail(self.path, problems)

    def _file(self, name: str | None) -> Path | None:
        return None if name is None else resolve(self.path.parent, name)

    def _files(self, names: tuple[str, ...]) -> tuple[Path, ...]:
        return tuple(resolve(self.path.parent, name) for name in names)


def load(path: Path) -> Loaded:
    """The storyboard in a file.

    Raises
    ------
    StoryboardError : it cannot be read; every problem found is a line `file:line:column: field: what:
        what was found`, in the order of the file
    """
    return parse(read_text(path), path)


def parse(text: str, path: Path) -> Loaded:
    """The storyboard in a text, as if it stood in the file `path`: what it names lies beside that.

    Raises
    ------
    StoryboardError : as `load` says it
    """
    tree, notes, problems = compose(text, path)
    storyboard, marks, more = read(tree, path.parent)
    if storyboard is None or problems:
        raise fail(path, [*problems, *more])
    return Loaded(storyboard=storyboard, path=path, marks=marks, notes=tuple(notes))

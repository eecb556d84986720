"""Small storyboards for tests."""

from pathlib import Path

from hypothesis import settings

from mvpipe.errors import StoryboardError
from mvpipe.storyboard.load import Loaded, load

HEAD = "mvpipe: 1\ntitle: Neon Rain\n"

steady = settings(deadline=None, derandomize=True)
"""The same examples every time, on a machine that may be busy."""

SAMPLES = sorted((Path(__file__).parents[2] / "storyboards").glob("*.yaml"))


def loaded(folder: Path, text: str | bytes, *, head: str = HEAD) -> Loaded:
    """The storyboard `text` behind the two lines every storyboard needs; of bytes, nothing is added."""
    path = folder / "rain.yaml"
    path.write_bytes(text if isinstance(text, bytes) else (head + text).encode())
    return load(path)


def complaint(folder: Path, text: str | bytes, *, head: str = HEAD) -> tuple[str, str]:
    """What is said about `text`, with the folder left out, and the hint."""
    try:
        found = loaded(folder, text, head=head)
    except StoryboardError as exc:
        return str(exc).replace(f"{folder}/", ""), exc.hint.replace(str(folder), "FOLDER")
    raise AssertionError(f"accepted: {found.storyboard}")

"""The networks for faces that come with mvpipe: their files, what each is for, and under which licence."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mvpipe.errors import ToolError

MODELS = Path(__file__).parent / "models"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundled:
    """A network in this package.

    Parameters
    ----------
    name, what, licence : for the reader; `models/NOTICE` says more
    files : name -> sha256
    """

    name: str
    what: str
    licence: str
    files: Mapping[str, str]

    @property
    def paths(self) -> tuple[Path, ...]:
        """Where its files are."""
        return tuple(MODELS / name for name in self.files)


BLAZEFACE = Bundled(
    name="blazeface",
    what="finds faces in a take",
    licence="Apache-2.0 (MediaPipe)",
    files={
        "face_detection_short_range.tflite": (
            "bbff11cebd1eb27a1e004cae0b0e63ec8c551cbf34a4451148b4908b8db3eca8"
        )
    },
)
FACE_MESH = Bundled(
    name="face-mesh",
    what="traces 468 points of a face, lips among them",
    licence="Apache-2.0 (MediaPipe)",
    files={"face_landmark.tflite": "1055cb9d4a9ca8b8c688902a3a5194311138ba256bcc94e336d8373a5f30c814"},
)
FACE_IDENTITY = Bundled(
    name="face-identity",
    what="knows a face again: the cast's, and the singer's among several",
    licence="public domain (dlib, Davis King); its pictures came from FaceScrub, VGG-Face and the net",
    files={
        "face_recognition_model.bin": "b413e420d6840b2775fba32008db6f3cddb07d485967fb42cfcf379c16a8c589",
        "face_recognition_model.json": "cbaffa501b0b9275a12b63357a6843e7e30c054e1c9151e1a5f879b26e32986b",
    },
)
BUNDLED = (BLAZEFACE, FACE_MESH, FACE_IDENTITY)


def verified(one: Bundled) -> tuple[Path, ...]:
    """Its files, which are what they should be.

    Raises
    ------
    ToolError : a file is missing, or its bytes are others
    """
    for path, digest in zip(one.paths, one.files.values(), strict=True):
        found = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "nothing"
        if found != digest:
            raise ToolError(
                f"{path}: sha256 {found[:16]}..., not {digest[:16]}...", hint="install mvpipe anew"
            )
    return one.paths

"""`mvpipe schema`: the storyboard's JSON Schema, for editors."""

from __future__ import annotations


def schema() -> None:
    """Print the JSON Schema of storyboards; editors complete and check with it."""
    from mvpipe.cli.terminal import Terminal
    from mvpipe.storyboard.schema import json_schema

    Terminal().json(json_schema())

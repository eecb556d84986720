"""`mvpipe schema`: the storyboard's JSON Schema, for editors."""

from __future__ import annotations


def schema() -> None:
    """Print the storyboard's JSON Schema for editors."""
    from mvpipe.cli.terminal import Terminal
    from mvpipe.storyboard.schema import json_schema

    Terminal().json(json_schema())

"""What every mapping of a storyboard is."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator


class Part(BaseModel):
    """A mapping of the storyboard: unknown keys are refused, and nothing in it changes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _left_out(cls, value: Any) -> Any:
        """A known key with nothing behind it counts as left out; an unknown one is still refused."""
        if not isinstance(value, dict):
            return value
        known = {field.alias or name for name, field in cls.model_fields.items()}
        return {key: item for key, item in value.items() if item is not None or key not in known}

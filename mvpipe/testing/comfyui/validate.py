"""What POST /prompt says to a graph: refused, accepted, or half accepted; only the first layer is found.

Validation goes up from each output node through the links it knows, and turns back at a bad input. What no
output depends on is not looked at, unknown inputs are passed over, numbers are converted in place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mvpipe.testing.comfyui.expand import DYNAMIC, expanded
from mvpipe.testing.comfyui.schema import Schemas
from mvpipe.testing.comfyui.settings import Settings

Graph = dict[str, dict[str, Any]]
Reason = dict[str, Any]

FILE_INPUTS = {
    ("LoadImage", "image"): "image",
    ("LoadAudio", "audio"): "audio",
    ("LoadVideo", "file"): "video",
}
"""Inputs whose file must exist instead of being in the list -> the word in the message."""

UNCHECKED = {("ModelAttentionBackend", "attention_backend"), ("ModelAttentionBackend", "attention")}
"""Inputs whose own check accepts anything."""

CONVERTERS = {"INT": int, "FLOAT": float, "STRING": str, "BOOLEAN": bool}
ANNOTATION = re.compile(r"(.*) \[(input|output|temp)\]")


class Cycle(ValueError):
    """The graph runs in a circle; `nodes` are its members in order."""

    def __init__(self, nodes: list[str]) -> None:
        super().__init__(" -> ".join(nodes))
        self.nodes = nodes


@dataclass(slots=True, kw_only=True)
class Verdict:
    """What is said: outputs that run, an error if none does, and what is wrong with which node."""

    outputs: list[str] = field(default_factory=list)
    error: Reason | None = None
    node_errors: dict[str, Any] = field(default_factory=dict)


def refusal(kind: str, message: str, details: str = "", **extra: Any) -> Reason:
    """An error as the server writes it."""
    return {"type": kind, "message": message, "details": details, "extra_info": extra}


def locate(settings: Settings, name: str) -> Path | None:
    """The file a loader's value names, wherever below the input folder it lies; None if it climbs out."""
    kind = "input"
    if found := ANNOTATION.fullmatch(name):
        name, kind = found[1], found[2]
    home = settings.root / kind
    path = home / name
    return path if path.resolve().is_relative_to(home.resolve()) else None


def validate(settings: Settings, schemas: Schemas, graph: Graph, targets: list[str] | None) -> Verdict:
    """Look at a graph; numbers in it are converted in place."""
    sinks = []
    for node_id in graph:
        node = graph[node_id]
        if (error := _class_error(settings, schemas, node_id, node)) is not None:
            return Verdict(error=error)
        if schemas.is_sink(node["class_type"]) and (targets is None or node_id in targets):
            sinks.append(node_id)
    if not sinks:
        return Verdict(error=refusal("prompt_no_outputs", "Prompt has no outputs"))
    return _Validator(settings, schemas, graph).verdict(sinks)


def _class_error(settings: Settings, schemas: Schemas, node_id: str, node: dict[str, Any]) -> Reason | None:
    name = node.get("class_type")
    if name in schemas:
        return None
    details = f"Node ID '#{node_id}'"
    if not settings.modern:
        message = "Cannot execute because a node is missing the class_type property."
        if name is not None:
            message = f"Cannot execute because node {name} does not exist."
        return refusal("invalid_prompt", message, details)
    title = node.get("_meta", {}).get("title", name)
    message = f"Node '{title}' not found. The custom node may not be installed."
    if name is None:
        what = "The workflow may be corrupted or a custom node is missing."
        message = f"Node 'ID #{node_id}' has no class_type. {what}"
    return refusal("missing_node_type", message, details, node_id=node_id, class_type=name, node_title=title)


class _Validator:
    def __init__(self, settings: Settings, schemas: Schemas, graph: Graph) -> None:
        self._settings = settings
        self._schemas = schemas
        self._graph = graph
        self._seen: dict[str, tuple[bool, list[Reason]]] = {}
        self._path: list[str] = []

    def verdict(self, sinks: list[str]) -> Verdict:
        verdict = Verdict()
        complaints: list[str] = []
        for sink in sinks:
            self._seen, self._path = {}, []
            valid, reasons = self._of_sink(sink)
            if valid:
                verdict.outputs.append(sink)
                continue
            complaints += [f"{reason['message']}: {reason['details']}" for reason in reasons]
            self._collect(sink, verdict.node_errors)
        if not verdict.outputs:
            verdict.error = refusal(
                "prompt_outputs_failed_validation", "Prompt outputs failed validation", "\n".join(complaints)
            )
        return verdict

    def _of_sink(self, sink: str) -> tuple[bool, list[Reason]]:
        try:
            return self._node(sink)
        except Cycle as exc:
            if self._settings.modern:
                self._blame_cycle(exc.nodes)
            return False, []
        except (LookupError, TypeError) as exc:
            reason = refusal(
                "exception_during_validation", "Exception when validating node", str(exc),
                exception_type=type(exc).__name__, traceback=_traceback(),
            )  # fmt: skip
            self._seen[sink] = (False, [reason])
            return self._seen[sink]

    def _collect(self, sink: str, node_errors: dict[str, Any]) -> None:
        for node_id, (valid, reasons) in self._seen.items():
            if not valid and reasons:
                entry = {"errors": reasons, "dependent_outputs": [], "class_type": self._class(node_id)}
                node_errors.setdefault(node_id, entry)["dependent_outputs"].append(sink)

    def _class(self, node_id: str) -> str:
        return str(self._graph[node_id]["class_type"])

    def _blame_cycle(self, nodes: list[str]) -> None:
        self._seen = {}
        around = " -> ".join(f"{node} ({self._class(node)})" for node in [*nodes, nodes[0]])
        for node in nodes:
            reason = refusal(
                "dependency_cycle", "Dependency cycle detected", around, node_id=node, cycle_nodes=nodes
            )
            self._seen[node] = (False, [reason])

    def _node(self, node_id: str) -> tuple[bool, list[Reason]]:
        if node_id in self._path:
            raise Cycle(self._path[self._path.index(node_id) :])
        if node_id in self._seen:
            return self._seen[node_id]
        self._path.append(node_id)
        name, inputs = self._class(node_id), self._graph[node_id]["inputs"]
        valid, reasons = True, list[Reason]()
        for key, (required, spec) in expanded(self._schemas.inputs(name), inputs).items():
            if key not in inputs:
                if required:
                    reasons.append(
                        refusal("required_input_missing", "Required input is missing", key, input_name=key)
                    )
            elif isinstance(inputs[key], list):
                valid = self._link(key, spec, inputs[key], reasons) and valid
            else:
                reasons += self._constant(name, key, spec, inputs)
        self._path.pop()
        self._seen[node_id] = (valid and not reasons, reasons)
        return self._seen[node_id]

    def _link(self, key: str, spec: list[Any], link: list[Any], reasons: list[Reason]) -> bool:
        """Whether the node behind a link is valid; what is wrong with the link itself goes to `reasons`."""
        about: dict[str, Any] = {"input_name": key, "input_config": spec}
        if len(link) != 2:
            message = "Bad linked input, must be a length-2 list of [node_id, slot_index]"
            reasons.append(refusal("bad_linked_input", message, key, **about, received_value=link))
            return True
        received = self._schemas.outputs(self._graph[link[0]]["class_type"])[link[1]]
        if not _types_meet(received, spec[0]):
            details = f"{key}, received_type({received}) mismatch input_type({spec[0]})"
            reasons.append(
                refusal(
                    "return_type_mismatch", "Return type mismatch between linked nodes", details,
                    **about, received_type=received, linked_node=link,
                )
            )  # fmt: skip
            return True
        depth = len(self._path)
        try:
            return self._node(link[0])[0]
        except (LookupError, TypeError) as exc:
            del self._path[depth:]
            reason = refusal(
                "exception_during_inner_validation", "Exception when validating inner node", str(exc),
                **about, exception_message=str(exc), exception_type=type(exc).__name__,
                traceback=_traceback(), linked_node=link,
            )  # fmt: skip
            self._seen[link[0]] = (False, [reason])
            return False

    def _constant(self, name: str, key: str, spec: list[Any], inputs: dict[str, Any]) -> list[Reason]:
        about: dict[str, Any] = {"input_name": key, "input_config": spec}
        kind, options = spec[0], spec[1] if len(spec) > 1 else {}
        if isinstance(kind, str) and kind in CONVERTERS:
            try:
                inputs[key] = CONVERTERS[kind](inputs[key])
            except (ValueError, TypeError) as exc:
                message = f"Failed to convert an input value to a {kind} value"
                details = f"{key}, {inputs[key]}, {exc}"
                return [
                    refusal(
                        "invalid_input_type", message, details,
                        **about, received_value=inputs[key], exception_message=str(exc),
                    )
                ]  # fmt: skip
            return _range_errors(key, inputs[key], options, about)
        if (name, key) in FILE_INPUTS:
            return self._file_errors(key, inputs[key], FILE_INPUTS[name, key])
        if (name, key) in UNCHECKED or kind == DYNAMIC:
            return []
        return self._choice_errors(key, inputs[key], spec)

    def _file_errors(self, key: str, value: Any, word: str) -> list[Reason]:
        path = locate(self._settings, value) if isinstance(value, str) else None
        if path is not None and path.is_file():
            return []
        details = f"{key} - Invalid {word} file: {value}"
        message = "Custom validation failed for node"
        return [refusal("custom_validation_failed", message, details, input_name=key)]

    def _choice_errors(self, key: str, value: Any, spec: list[Any]) -> list[Reason]:
        if isinstance(spec[0], list):
            choices = spec[0]
        elif spec[0] == "COMBO" and self._settings.modern:
            choices = spec[1]["options"]
        else:
            return []
        if value in choices:
            return []
        is_long = len(choices) > 20
        listed = f"(list of length {len(choices)})" if is_long else str(choices)
        return [
            refusal(
                "value_not_in_list", "Value not in list", f"{key}: '{value}' not in {listed}",
                input_name=key, input_config=None if is_long else spec, received_value=value,
            )
        ]  # fmt: skip


def _range_errors(key: str, value: Any, options: dict[str, Any], about: dict[str, Any]) -> list[Reason]:
    if "min" in options and value < options["min"]:
        message = f"Value {value} smaller than min of {options['min']}"
        return [refusal("value_smaller_than_min", message, key, **about, received_value=value)]
    if "max" in options and value > options["max"]:
        message = f"Value {value} bigger than max of {options['max']}"
        return [refusal("value_bigger_than_max", message, key, **about, received_value=value)]
    return []


def _types_meet(received: str, wanted: Any) -> bool:
    if isinstance(wanted, list):
        return received in ("COMBO", "*")
    return "*" in (received, wanted) or bool({*received.split(",")} & {*str(wanted).split(",")})


def _traceback() -> list[str]:
    return ['  File "execution.py", in validate_inputs\n'] * 2

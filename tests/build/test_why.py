"""What differs is said field by field."""

from mvpipe.build.why import differences

OLD = {"params": {"seed": 7, "size": [672, 384], "graph": {}}, "inputs": {"vocals": "ab" * 32}}


def test_equal_records_differ_in_nothing() -> None:
    assert differences(OLD, OLD) == []


def test_each_difference_is_a_line() -> None:
    new = {
        "params": {"seed": 8, "size": [672, 416], "graph": {"prompt": "rain"}},
        "inputs": {"vocals": "cd" * 32},
    }
    assert differences(OLD, new) == [
        "inputs.vocals: abababababab -> cdcdcdcdcdcd",
        "params.graph: {} -> nothing",
        "params.graph.prompt: nothing -> rain",
        "params.seed: 7 -> 8",
        "params.size[1]: 384 -> 416",
    ]


def test_long_texts_are_shortened() -> None:
    (line,) = differences({"a": "x"}, {"a": "y" * 300})
    assert len(line) < 120

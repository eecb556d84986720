"""Golden complaints: each trap YAML lays for a film-maker, with its place, its reason and the way out."""

from pathlib import Path

import pytest

from tests.storyboard.making import HEAD, complaint

QUOTE = 'put the whole text in double quotes, as in prompt: "she says: come back"'
BRACKETS = 'every { needs its } and every [ its ]; inside them a text with : , [ ] { } needs "quotes"'
INDENT = "keys of one thing begin in the same column; what belongs to a key stands further right"
UTF8 = "save it as UTF-8: most editors offer it under 'save as' or in the status line"
APOSTROPHE = f"{QUOTE}; inside '...' an apostrophe is written twice"
KEYS = "known here: mvpipe, title, lyrics, picture, look, cast, places, sections, cuts, sound, render, gate"

SYNTAX = {
    "a colon in a text": (
        "look: she says: come\n",
        '3:15: look: a ": " where none may stand: "look: she says: come"',
        f"{QUOTE}; or mend the indentation",
    ),
    "a colon in braces": (
        "cast:\n  m: {is: a girl: tall}\n",
        '4:17: cast.m.is: expected , or }: "m: {is: a girl: tall}"',
        BRACKETS,
    ),
    "a comma in braces": (
        "cast:\n  m: {is: a girl, tall}\n",
        '4:19: cast.m.tall: unknown key: "tall"',
        "if this belongs to the text before it: a text with a comma inside { } needs quotes",
    ),
    "a tab as indentation": (
        "cast:\n\tm: {is: x}\n",
        '4:1: cast: a tab where only blanks may stand: "m: {is: x}"',
        "indent with blanks, not with tabs",
    ),
    "a tab behind a colon": (
        "look:\tx\n",
        '3:6: look: a tab where only blanks may stand: "look:\\tx"',
        "indent with blanks, not with tabs",
    ),
    "an apostrophe": (
        "look: 'it's'\n",
        "3:11: look: more text behind what was complete: \"look: 'it's'\"",
        APOSTROPHE,
    ),
    "a quoted beginning": (
        'look: "wet" neon\n',
        '3:13: look: more text behind what was complete: "look: \\"wet\\" neon"',
        APOSTROPHE,
    ),
    "a text with @": ("look: @night\n", "3:7: look: a text cannot begin with '@': \"look: @night\"", QUOTE),
    "a text with %": ("look: %\n", "3:7: look: a text cannot begin with '%': \"look: %\"", QUOTE),
    "a text with !": (
        "look: !wet neon\n",
        '3:7: look: a tag that means nothing here: "!wet"',
        "tags are not used in storyboards; a text that begins with ! needs quotes",
    ),
    "a python tag": (
        "look: !!python/object/apply:os.system 'ls'\n",
        '3:7: look: a tag that means nothing here: "!!python/object/apply:os.system"',
        "tags are not used in storyboards; a text that begins with ! needs quotes",
    ),
    "a set": ("cast: !!set {}\n", '3:7: cast: a tag that means nothing here: "!!set"', None),
    "an unknown alias": (
        "look: *wet\n",
        '3:7: look: an alias of nothing: "*wet"',
        "a text that begins with * needs quotes",
    ),
    "an alias in itself": (
        "cast: &a {m: *a}\n",
        '3:14: cast.m: an alias inside what it repeats: "*a"',
        "a text that begins with * needs quotes",
    ),
    "an anchor without a name": (
        "look: & so\n",
        '3:8: look: a text cannot begin with &: "look: & so"',
        QUOTE,
    ),
    "a merge of a text": (
        "cast:\n  a: {<<: x, is: y}\n",
        '4:11: cast.a["<<"]: << takes in keys and values: found text',
        "",
    ),
    "a key twice": ("look: a\ncast:\nlook: b\n", "5:1: look: a key given twice: first in line 3", "keep one"),
    "a quote left open": (
        "look: 'wet\ncast: {}\n",
        '3:7: look: a quote that is never closed: "look: \'wet"',
        "close it, or leave both quotes away",
    ),
    "a brace left open": (
        "cast: {m: {is: x}\n",
        '3:7: cast.m.is: a bracket that is never closed: "cast: {m: {is: x}"',
        BRACKETS,
    ),
    "a second document": (
        "---\nmvpipe: 1\n",
        "3:1: storyboard: a second document begins: found ---",
        "one film a file",
    ),
    "a key set in too far": (
        "cast: {}\n  look: x\n",
        '4:3: cast: does not line up with what stands above: "look: x"',
        INDENT,
    ),
    "a key under a text": (
        "  look: x\n",
        '3:7: title: a ": " where none may stand: "look: x"',
        f"{QUOTE}; or mend the indentation",
    ),
    "a crooked indentation": (
        "cast:\n  m:\n    is: x\n   sings: true\n",
        '6:4: cast.m.is: does not line up with what stands above: "sings: true"',
        INDENT,
    ),
    "a forgotten colon": ("look x\ncast: {}\n", '3:1: title: a key without its colon: "look x"', INDENT),
    "a list on its key's line": (
        "sections: - name: x\n",
        '3:11: sections: a list that begins on its key\'s line: "sections: - name: x"',
        "begin each - on a line of its own, or write [a, b]",
    ),
    "a path in double quotes": (
        'lyrics: "C:\\media"\n',
        '3:13: lyrics: \\ before \'m\' means nothing in double quotes: "lyrics: \\"C:\\\\media\\""',
        "use single quotes, or write \\\\",
    ),
    "a character past Unicode": (
        'look: "\\UFFFFFFFF"\n',
        "3:1: look: not a character's number",
        "use single quotes, or write \\\\",
    ),
    "half a character": (
        'look: "\\ud800"\n',
        '3:7: look: a character that cannot be shown: U+D800 in "\\ud800"',
        "",
    ),
    "a bell": (
        "look: a\x07b\n",
        "3:8: storyboard: a character YAML does not allow: U+0007",
        "delete it, or type that word again: it cannot be seen in most editors",
    ),
    "a bell by its number": (
        'look: "a\\x07b"\n',
        '3:7: look: a character that cannot be shown: U+0007 in "a\\u0007b"',
        "",
    ),
    "a list as key": (
        "? [a]\n: b\n",
        "3:3: storyboard: a key is a text: found a list",
        "a text that begins with { or [ needs quotes",
    ),
    "words behind |": (
        "look: | wet\n  neon\n",
        '3:9: look: what follows | or > on its line is not understood: "look: | wet"',
        "begin the text on the next line",
    ),
    "a bottomless list": (f"look: {'[' * 5000}\n", "3:39: look: nested too deeply: more than 32 levels", ""),
    "an invisible character": (
        "\u200blook: x\n",
        '3:1: ["\\u200blook"]: unknown key: "\\u200blook"',
        "a character that cannot be seen stands in the key: type it again",
    ),
}

FIELDS = {
    "an unknown key": ("titel: x\n", '3:1: titel: unknown key: "titel"', "did you mean title?"),
    "a key of another part": ("takes: 3\n", '3:1: takes: unknown key: "takes"', "it belongs to render"),
    "a key of nowhere": ("colour: x\n", '3:1: colour: unknown key: "colour"', KEYS),
    "a time out of range": (
        "cuts: {keep: [0:41, 1:60]}\n",
        '3:21: cuts.keep[1]: not a time: "1:60"',
        "minutes and seconds run from 00 to 59; frames are not written, milliseconds are: 1:02.500",
    ),
    "a time with a comma": (
        "cuts: {keep: ['0:12,5']}\n",
        '3:15: cuts.keep[0]: not a time: "0:12,5"',
        "write a point, not a comma: 0:12.5",
    ),
    "a time without a digit before its point": (
        "cuts: {keep: [.5]}\n",
        '3:15: cuts.keep[0]: not a time: ".5"',
        "write seconds, M:SS.mmm or H:MM:SS.mmm, such as 41, 0:41.5 or 1:02:03",
    ),
    "a time as power": ("cuts: {keep: [1e3]}\n", '3:15: cuts.keep[0]: not a time: "1e3"', None),
    "a negative time": ("cuts: {keep: [-1]}\n", '3:15: cuts.keep[0]: not a time: "-1"', None),
    "a time of two days": (
        "cuts: {keep: ['50:00:00']}\n",
        '3:15: cuts.keep[0]: a time runs from 0 to 24 hours: "50:00:00"',
        "",
    ),
    "a stretch backwards": (
        'cuts: {avoid: ["5 - 3"]}\n',
        '3:16: cuts.avoid[0]: ends before it begins: "5 - 3"',
        "the earlier time comes first",
    ),
    "a stretch of one time": (
        "cuts: {avoid: [1:02]}\n",
        '3:16: cuts.avoid[0]: not a stretch of time: "1:02"',
        'write two times: "1:02 - 1:03.5"',
    ),
    "the first shot moved": (
        "cuts: {at: {1: 0:02}}\n",
        '3:13: cuts.at["1"]: shot 1 cannot be moved: it starts with the song',
        "",
    ),
    "a shot number with zeros": (
        "cuts: {at: {02: 0:02}}\n",
        '3:13: cuts.at["02"]: not a shot number: "02"',
        "write it in digits, without leading zeros",
    ),
    "a size": (
        "picture: {size: big}\n",
        '3:17: picture.size: not a size: "big"',
        "write width x height, such as 1344x768",
    ),
    "a size too large": (
        "picture: {size: 4096x2160}\n",
        '3:17: picture.size: sides are multiples of 32 from 64 to 2048: "4096x2160"',
        "the nearest is 2048x2048",
    ),
    "a backend": (
        "render: {backend: anamatic}\n",
        '3:19: render.backend: not one of animatic, comfyui: "anamatic"',
        "did you mean animatic?",
    ),
    "a mouth": (
        "render: {animatic: {mouth: shut}}\n",
        '3:28: render.animatic.mouth: not one of follow, closed, frozen, unrelated: "shut"',
        "",
    ),
    "too many takes": ("render: {takes: 21}\n", "3:17: render.takes: not in 1..20: 21", ""),
    "half a take": ("render: {takes: 2.5}\n", '3:17: render.takes: not a whole number: "2.5"', ""),
    "a seed too large": (
        "render: {seed: 4294967296}\n",
        "3:16: render.seed: not in 0..4294967295: 4294967296",
        "",
    ),
    "an octal seed": ("render: {seed: 0o7}\n", '3:16: render.seed: not a whole number: "0o7"', ""),
    "a list where text belongs": ("look: [wet, neon]\n", "3:7: look: expected text: found a list", ""),
    "text where a list belongs": (
        "sections:\n  - name: a\n    shots: rain\n",
        '5:12: sections[0].shots: expected a list: found "rain"',
        "write [rain]",
    ),
    "text where a shot belongs": (
        "sections:\n  - name: a\n    shots:\n      - rain\n",
        '6:9: sections[0].shots[0]: expected keys and values: found "rain"',
        "such as {key: value}",
    ),
    "nothing where a section belongs": (
        "sections:\n  -\n",
        "4:4: sections[0]: expected keys and values: found nothing",
        "such as {key: value}",
    ),
    "a section without a name": (
        "sections:\n  - start: 0\n",
        "4:5: sections[0].name: missing: found only start",
        "such as name: verse 1",
    ),
    "nobody of that name": (
        "cast: {mira: {is: x}}\nsections: [{name: a, shots: [{cast: [Mira]}]}]\n",
        '4:38: sections[0].shots[0].cast[0]: not in cast: "Mira"',
        "did you mean mira?",
    ),
    "a cast of strangers": (
        "cast: {mira: {is: x}}\nsections: [{name: a, shots: [{cast: [tomas]}]}]\n",
        '4:38: sections[0].shots[0].cast[0]: not in cast: "tomas"',
        "cast has mira",
    ),
    "no such place": (
        "sections: [{name: a, shots: [{place: bar}]}]\n",
        '3:38: sections[0].shots[0].place: not in places: "bar"',
        "describe it under places",
    ),
    "a name with a slash": ("cast: {a/b: {is: x}}\n", '3:8: cast["a/b"]: a name cannot hold /: "a/b"', ""),
    "an empty title in quotes": (
        'look: ""\nsections: [{name: ""}]\n',
        "4:19: sections[0].name: empty: found no text",
        "",
    ),
    "a file that is not there": ("lyrics: rain.lrc\n", '3:9: lyrics: no such file: "rain.lrc"', None),
    "a file nearly there": (
        "lyrics: neon.lcr\n",
        '3:9: lyrics: no such file: "neon.lcr"',
        "did you mean neon.lrc?",
    ),
    "a file in a folder that is not there": (
        "cast: {m: {is: x, pictures: [ref/a.png]}}\n",
        '3:30: cast.m.pictures[0]: no such file: "ref/a.png"',
        "there is no folder FOLDER/ref to look into",
    ),
    "a file with backslashes": (
        "cast: {m: {is: x, pictures: [refs\\a.png]}}\n",
        '3:30: cast.m.pictures[0]: no such file: "refs\\\\a.png"',
        "write / between folders, on every system",
    ),
    "a folder in place of a file": (
        "cast: {m: {is: x, pictures: [refs]}}\n",
        '3:30: cast.m.pictures[0]: not a file: "refs" is a folder',
        "",
    ),
    "a file in place of a folder": (
        "sound: {repo: neon.lrc}\n",
        '3:15: sound.repo: not a folder: "neon.lrc" is a file',
        "",
    ),
    "a file name too long": (
        f"lyrics: {'a' * 300}\n",
        f'3:9: lyrics: cannot be opened: "{"a" * 57}...": File name too long',
        "",
    ),
}


@pytest.mark.parametrize("trap", [*SYNTAX, *FIELDS])
def test_complaint(tmp_path: Path, trap: str) -> None:
    (tmp_path / "refs").mkdir()
    (tmp_path / "neon.lrc").touch()
    text, said, hint = (SYNTAX | FIELDS)[trap]
    found, advice = complaint(tmp_path, text)
    assert found == f"rain.yaml:{said}"
    assert hint is None or advice == hint


WHOLE = {
    "nothing": (b"", "1:1: storyboard: empty: found no text", "mvpipe init writes one to begin with"),
    "only a comment": (
        b"# soon\n",
        "1:1: storyboard: empty: found no text",
        "mvpipe init writes one to begin with",
    ),
    "only ---": (b"---\n", "1:1: storyboard: empty: found no text", "mvpipe init writes one to begin with"),
    "a list": (b"- a\n", "1:1: storyboard: expected keys and values: found a list", "such as {key: value}"),
    "prose": (
        b"just words\n",
        '1:1: storyboard: expected keys and values: found "just words"',
        "such as {key: value}",
    ),
    "no version": (b"title: x\n", "1:1: mvpipe: missing: found only title", "such as mvpipe: 1"),
    "a later version": (
        b"mvpipe: 2\ntitle: x\n",
        '1:9: mvpipe: this mvpipe reads version 1: "2"',
        "a newer mvpipe may read it",
    ),
    "a later YAML": (
        b"%YAML 2.0\n---\na: b\n",
        '1:1: storyboard: a line that begins with % is an order to the YAML reader: "%YAML 2.0"',
        "take it out",
    ),
    "Latin-1": (
        HEAD.encode() + b"look: caf\xe9\n",
        "3:10: not UTF-8: byte 0xe9 at offset 36, perhaps Latin-1",
        UTF8,
    ),
    "Windows-1252": (
        HEAD.encode() + b"look: \x93wet\x94\n",
        "3:7: not UTF-8: byte 0x93 at offset 33, perhaps Windows-1252",
        UTF8,
    ),
    "UTF-16 without its mark": (
        HEAD.encode("utf-16-le"),
        "1:2: not UTF-8 text: a zero byte, perhaps UTF-16-LE without its mark",
        "save it as UTF-8",
    ),
    "UTF-16 the other way around": (
        HEAD.encode("utf-16-be"),
        "1:1: not UTF-8 text: a zero byte, perhaps UTF-16-BE without its mark",
        "save it as UTF-8",
    ),
    "half of UTF-16": (
        HEAD.encode("utf-16")[:-1],
        "2:17: not UTF-16-LE: byte 0x0a at offset 54, cut short or damaged",
        UTF8,
    ),
    "sound": (
        b"RIFF\x24\x00\x00\x00WAVE",
        "1:6: not UTF-8 text: a zero byte, perhaps no text at all",
        "save it as UTF-8",
    ),
}


@pytest.mark.parametrize("trap", WHOLE)
def test_complaint_about_a_whole_file(tmp_path: Path, trap: str) -> None:
    data, said, hint = WHOLE[trap]
    assert complaint(tmp_path, data) == (f"rain.yaml:{said}", hint)


def test_a_billion_laughs_are_not_written_out(tmp_path: Path) -> None:
    rows = "".join(f"k{n}: &a{n + 1} [{', '.join([f'*a{n}'] * 10)}]\n" for n in range(60))
    said, _ = complaint(tmp_path, f"look: &a0 ha\n{rows}")
    assert (
        said.splitlines()[-1]
        == "rain.yaml:8:5: k4[9]: too large: more than 50000 values, aliases written out"
    )

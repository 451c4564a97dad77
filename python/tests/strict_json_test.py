"""What merge and overlay write is strict JSON, whatever they read; validate says what was not."""

import json

import program
import pytest

ODD = rb"""{"schemaVersion":1,"note":[1,],"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"C:\Users","pid":7,"tid":7,"ts":1700000000000000,"dur":5,"args":{"loss":nan,"step":01}},
{"ph":"X","cat":"cpu_op","name":"caf%b","pid":7,"tid":7,"ts":1700000000000010,"dur":5,"args":{"list":[-Infinity,],"half":"\ud800"}},
{"ph":"X","cat":"cpu_op","name":"tab	here","pid":7,"tid":7,"ts":1700000000000020,"dur":5,"args":{"bad":[1}}},
]}""".replace(b"%b", b"\xe9")


@pytest.fixture
def odd(tmp_path):
    path = tmp_path / "odd.json"
    path.write_bytes(ODD)
    return path


def strictly(path):
    def refuse(word):
        raise ValueError(word)

    return json.loads(path.read_bytes().decode("utf-8"), parse_constant=refuse)


KINDS = ("2 values that are no JSON", "1 number with a leading zero", "1 escape", "1 half of a surrogate pair")
KINDS += ("1 raw control character", "1 piece of text that is not UTF-8", "3 commas", "1 value whose brackets")


@pytest.mark.parametrize("command", ["merge", "overlay"])
def test_a_copy_is_strict_and_says_what_was_mended(odd, tmp_path, command):
    copy = tmp_path / "copy.json"
    code, _, said = program.said(command, odd, "-o", copy)
    assert code == 0 and all(kind in said for kind in KINDS), said
    events = [e for e in strictly(copy)["traceEvents"] if e["ph"] == "X"]
    assert [e["name"] for e in events] == ["C:\\Users", "caf\ufffd", "tab\there"]
    args = [{key: value for key, value in e["args"].items() if key != "critical"} for e in events]
    assert args == [{"loss": "nan", "step": 1}, {"list": ["-Infinity"], "half": "\ufffd"}, {"bad": "[1}"}]
    assert program.said("validate", "--strict", copy)[0] == 0


def test_validate_names_kinds_places_and_the_remedy(odd):
    code, out, _ = program.said("validate", odd)
    text = " ".join(out.split())
    assert code == 0 and "other readers refuse some of the text" in text and all(kind in text for kind in KINDS), out
    assert f"the first at byte {ODD.index(b'nan')}" in text
    assert f"`stepscope merge {odd} -o mended.json` writes it as strict JSON" in text
    assert program.said("validate", "--strict", odd)[0] == 1
    rows = json.loads(program.said("validate", odd, "--format", "json")[1])["tables"][1]["rows"]
    assert len(rows) == len(KINDS)


def test_validate_strict_of_standard_input():
    code, _, said = program.said("validate", "--strict", "-")
    assert code == 2 and "name a file" in said


def test_a_plain_file_is_strict():
    code, out, _ = program.said("validate", "--strict", program.SAMPLES / "cnn.pt.trace.json.gz")
    assert code == 0 and "without loss" in out

"""What is wrong with the files is a warning when they are opened, and a note."""

import gzip
import json
import shutil
import warnings

import pytest
import stepscope
from program import SAMPLES

SAMPLE = SAMPLES / "generated_slow_input.json.gz"
RANKS = sorted((SAMPLES / "generated_exposed_comm").iterdir())


def opened(paths, **options):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        trace = stepscope.open(paths, **options)
    assert all(one.category is UserWarning and one.filename == __file__ for one in said)
    return trace, [str(one.message) for one in said]


@pytest.mark.parametrize("by_rank", [False, True])
@pytest.mark.parametrize("name", ["cut.json", "cut.json.gz"])
def test_a_file_that_is_cut(tmp_path, name, by_rank):
    path = tmp_path / name
    data = SAMPLE.read_bytes() if name.endswith("gz") else gzip.decompress(SAMPLE.read_bytes())
    path.write_bytes(data[:len(data) * 2 // 3])
    trace, said = opened(path, by_rank=by_rank)
    assert len(said) == 1 and said[0].startswith(f"{path}: the file ends early") and said[0] in trace.notes
    assert "Answers cover only what could be read." in said[0] and not trace.ranks[0].complete


def test_a_file_with_a_damaged_part(tmp_path):
    text = gzip.decompress(SAMPLE.read_bytes())
    at = text.index(b'"ph"', len(text) // 2)
    (tmp_path / "hole.json").write_bytes(text[:at] + b"\0" * 40 + text[at + 40:])
    trace, said = opened(tmp_path / "hole.json")
    assert len(said) == 1 and "hole.json: parts of the file are damaged (at byte " in said[0] and said == trace.notes


def test_whole_files_are_no_warning():
    for paths in (SAMPLE, RANKS, SAMPLES / "generated_exposed_comm"):
        trace, said = opened(paths)
        assert said == [] and trace.notes == []


def moved(path, to, days):
    recorded = json.loads(gzip.decompress(path.read_bytes()))
    for event in recorded["traceEvents"]:
        if "ts" in event and event["ph"] != "M":
            event["ts"] += days * 86_400e6
    to.write_text(json.dumps(recorded))
    return to


@pytest.mark.parametrize("by_rank", [False, True])
def test_files_of_two_runs(tmp_path, by_rank):
    old = moved(RANKS[0], tmp_path / "old.json", -1)
    trace, said = opened([old, *RANKS], by_rank=by_rank)
    assert len(said) == 1 and said[0].startswith(f"not used: {old}. ") and "run=N" in said[0]
    assert [rank.path for rank in trace.ranks] == list(map(str, RANKS))
    assert any("run=N chooses another" in note for note in trace.notes) and "--" not in "".join(trace.notes)
    assert opened([old, *RANKS], run=2, by_rank=by_rank)[1] == []


def test_ranks_of_two_jobs(tmp_path):
    late = moved(RANKS[1], tmp_path / "rank1.json", 46)
    _, said = opened([RANKS[0], late])
    assert any("The times of the events (ts) are unlike the others' for ranks 0, 1." in one for one in said), said
    assert not any("baseTimeNanoseconds" in one for one in said)
    merged = stepscope.merge([RANKS[0], late], tmp_path / "merged.json")
    assert any(note.startswith("By its clock, rank1.json was recorded about 46 days after rank0.pt.trace.json.gz.") for note in merged.notes), \
        merged.notes


def test_a_file_that_repeats_another(tmp_path):
    shutil.copy(RANKS[0], tmp_path / "copy.json.gz")
    _, said = opened([*RANKS, tmp_path / "copy.json.gz"])
    assert len(said) == 1 and "not used: " in said[0]

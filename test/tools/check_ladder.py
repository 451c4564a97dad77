#!/usr/bin/env python3
"""Checks every #include "room/..." below src/ and python/ against the ladder in ARCHITECTURE.md.

The ladder is the fenced block whose lines read "room : room room"; a room may include itself and the rooms named.
A fenced block of lines "room/folder" names closed folders: only files of the folder itself may include what is in it.
Prints file:line and the remedy for each wrong arrow and exits 1. With --self-test it checks itself.
"""
import pathlib
import re
import sys
import tempfile

RUNG = re.compile(r"^([a-z]+)\s*:((?:\s+[a-z]+)*)\s*$")
CLOSED = re.compile(r"^[a-z]+/[a-z]+$")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def block_of(text, line_form):
    """The matches of the first fenced block whose lines all have that form; [] if there is none."""
    for block in re.findall(r"^```[a-z]*\n(.*?)^```", text, re.S | re.M):
        lines = [line_form.match(line) for line in block.splitlines() if line.strip()]
        if lines and all(lines):
            return lines
    return []


def ladder_of(text):
    """{room: rooms it may include}."""
    return {rung[1]: set(rung[2].split()) for rung in block_of(text, RUNG)}


def wrong_rungs(ladder):
    """The ladder's own mistakes: unknown rooms and cycles."""
    for room, below in ladder.items():
        for other in sorted(below - ladder.keys()):
            yield f"ARCHITECTURE.md: room '{room}' may include '{other}', which is not on the ladder; add a line for it"
    reach = {room: set(below) for room, below in ladder.items()}
    for middle in ladder:
        for room in ladder:
            if middle in reach[room]:
                reach[room] |= reach[middle]
    for room in ladder:
        if room in reach[room]:
            yield f"ARCHITECTURE.md: room '{room}' reaches itself; take one arrow of the loop away"


def wrong_includes(root, ladder, closed):
    """One message per include that the ladder or a closed folder does not allow."""
    for path in sorted([*(root / "src").rglob("*"), *(root / "python").glob("*")]):
        if path.suffix not in (".h", ".cpp") or path.stem.endswith(("_test", "_fuzz", "_bench")):
            continue  # files that are not shipped may include anything
        room = "python" if path.is_relative_to(root / "python") else path.relative_to(root / "src").parts[0]
        place = path.relative_to(root)
        if room not in ladder:
            yield f"{place}:1: room '{room}' is not on the ladder; add it to ARCHITECTURE.md or move the file"
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            other = match[1].split("/")[0]
            folder = "/".join(match[1].split("/")[:2])
            if folder in closed and not path.is_relative_to(root / "src" / folder):
                yield f"{place}:{number}: '{folder}' is closed; ask for what it answers through the list of analyses"
            if "/" not in match[1]:
                yield f'{place}:{number}: "{match[1]}" names no room; write the path from src/, e.g. "{room}/{match[1]}"'
            elif other not in ladder:
                continue  # the header of a test or of a library
            elif other != room and other not in ladder[room]:
                allowed = " ".join(sorted(ladder[room])) or "nothing"
                yield (f"{place}:{number}: '{room}' may not include '{other}' (allowed: {allowed}); "
                       f"move what is shared to a room below both, or hand it in as an argument")


def check(root):
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    ladder = ladder_of(text)
    if not ladder:
        return ["ARCHITECTURE.md: there is no fenced block of 'room : room room' lines; the ladder belongs there"]
    closed = {line[0] for line in block_of(text, CLOSED)}
    return [*wrong_rungs(ladder), *wrong_includes(root, ladder, closed)]


def self_test():
    def verdict(ladder, files, closed=""):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "ARCHITECTURE.md").write_text(f"words\n\n```\nnot : a ladder!\n```\n\n```\n{ladder}\n```\n\n```\n{closed}\n```\n")
            for name, text in files.items():
                path = root / "src" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check(root)

    up, down = '#include "read/open.h"\n', '#include <vector>\n#include "base/result.h"\n'
    ladder = "base :\nread : base"
    assert verdict(ladder, {"read/a.cpp": down, "read/b.h": up}) == []
    wrong = verdict(ladder, {"base/a.cpp": "\n" + up})
    assert len(wrong) == 1 and wrong[0].startswith("src/base/a.cpp:2: 'base' may not include 'read'"), wrong
    assert verdict(ladder, {"base/a_test.cpp": up}) == []
    assert "names no room" in verdict(ladder, {"read/a.cpp": '#include "open.h"\n'})[0]
    assert "not on the ladder" in verdict(ladder, {"cellar/a.cpp": ""})[0]
    assert "'python' may not include 'cli'" in verdict(
        "base :\ncli : base\npython : base", {"../python/a.cpp": '#include "cli/a.h"\n'})[0]
    assert "reaches itself" in verdict("base : read\nread : base", {"read/a.cpp": ""})[0]
    assert "there is no fenced block" in verdict("", {})[0]
    inner = '#include "read/inner/a.h"\n'
    assert verdict(ladder, {"read/inner/b.cpp": inner}, "read/inner") == []
    assert "'read/inner' is closed" in verdict(ladder, {"read/a.cpp": inner}, "read/inner")[0]


def main():
    self_test()
    if "--self-test" in sys.argv:
        return 0
    wrong = check(pathlib.Path(__file__).resolve().parents[2])
    print("\n".join(wrong) if wrong else "every include goes down the ladder")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

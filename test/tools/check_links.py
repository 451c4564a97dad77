"""Checks that every relative link in the Markdown files leads to a file, and to a heading if it names one."""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def markdown_files():
    for folder, inner, names in os.walk(ROOT):
        inner[:] = [name for name in inner if name not in ("build", "node_modules") and not name.startswith(".")]
        yield from (os.path.join(folder, name) for name in names if name.endswith(".md"))


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))


def anchors(text):
    headings = re.findall(r"^#+ +(.+?) *$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(path):
    with open(path, encoding="utf-8") as opened:
        text = opened.read()
    for target in re.findall(r"!?\[[^\]]*\]\(([^)\s]+)[^)]*\)", without_code(text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, heading = target.partition("#")
        there = os.path.join(os.path.dirname(path), name) if name else path
        if not os.path.exists(there):
            yield target, "there is no such file"
        elif heading and there.endswith(".md"):
            with open(there, encoding="utf-8") as opened:
                if heading not in anchors(opened.read()):
                    yield target, "there is no such heading"


def main():
    files = sorted(markdown_files())
    broken = [(os.path.relpath(path, ROOT), *link) for path in files for link in broken_links(path)]
    for path, target, reason in broken:
        print(f"{path}: {target}: {reason}")
    print(f"{len(files)} files, {len(broken)} broken links")
    return 1 if broken or not files else 0


if __name__ == "__main__":
    sys.exit(main())

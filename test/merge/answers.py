"""stepscope's answers in a form that can be compared: every analysis as JSON, without paths."""
import contextlib
import json
import os
import sqlite3
import subprocess
import tempfile

OF_EVENTS = ("event", "arg", "track", "rank", "step", "device", "flow")


def run(program, *words, ok=(0,)):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
    if done.returncode not in ok:
        raise SystemExit(f"stepscope {' '.join(map(str, words))} exits with {done.returncode}:\n{done.stderr}")
    return done


def analyses(program):
    table = json.loads(run(program, "list", "--format", "json").stdout)
    table = (table.get("tables") or table["reports"][0]["tables"])[0]
    place = [column["name"] if isinstance(column, dict) else column for column in table["columns"]].index("name")
    return [row[place] for row in table["rows"]]


def tables(program, path):
    """{name: rows} of the SQLite export, without the program's own tables of events."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "all.sqlite")
        run(program, "export", path, "-o", file)
        with contextlib.closing(sqlite3.connect(file)) as base:
            names = [name for (name,) in base.execute("select name from sqlite_master where type = 'table'")]
            return {name: list(base.execute(f'select * from "{name}"')) for name in names if name not in OF_EVENTS}


def answers(program, path, leave_out=()):
    """{analysis: its tables, or its report if it has no tables there}; `path` is one file or a folder of ranks."""
    found = {}
    exported = tables(program, path)
    for name in analyses(program):
        if name in leave_out:
            continue
        own = {table: rows for table, rows in exported.items() if table == name or table.startswith(f"{name}_")}
        text = json.dumps(own) if own else run(program, "show", name, path, "--format", "json", ok=(0, 2)).stdout
        found[name] = text.replace(f"{path}{os.sep}", "").replace(str(path), os.path.basename(path))
    return found


def differences(a, b):
    """Names of analyses whose answers differ, each with the first difference."""
    out = []
    for name in a:
        if a[name] != b[name]:
            at = next((i for i, (x, y) in enumerate(zip(a[name], b[name])) if x != y), min(len(a[name]), len(b[name])))
            out.append(f"{name}: …{a[name][max(0, at - 120):at + 80]}… became …{b[name][max(0, at - 120):at + 80]}…")
    return out

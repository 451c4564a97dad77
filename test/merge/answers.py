"""What stepscope answers, in a form that can be compared: every analysis as JSON, with paths taken out."""
import json
import os
import subprocess


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


def answers(program, path, leave_out=()):
    """{analysis: its report}; `path` is one file or a folder of ranks."""
    found = {}
    for name in analyses(program):
        if name not in leave_out:
            text = run(program, "show", name, path, "--format", "json", ok=(0, 2)).stdout
            found[name] = text.replace(f"{path}{os.sep}", "").replace(str(path), os.path.basename(path))
    return found


def differences(a, b):
    """Names of analyses whose answers differ, each with the first place where they do."""
    out = []
    for name in a:
        if a[name] != b[name]:
            at = next((i for i, (x, y) in enumerate(zip(a[name], b[name])) if x != y), min(len(a[name]), len(b[name])))
            out.append(f"{name}: …{a[name][max(0, at - 120):at + 80]}… became …{b[name][max(0, at - 120):at + 80]}…")
    return out

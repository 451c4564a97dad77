"""include/stepscope/io.h: programs in C and C++ with its macros, compiled, run and read."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from program import ROOT

import stepscope
from stepscope import _core

LIBRARY = Path(stepscope.__file__).parent / "libstepscope_collect.so"

C = r"""
#include "stepscope/io.h"
static int work(int step) {
  STEPSCOPE_C_FUNCTION_START();
  STEPSCOPE_C_FUNCTION_UPDATE_INT("step", step);
  STEPSCOPE_C_FUNCTION_UPDATE_STR("path", "a\"b\\c\nd\u00e9");
  STEPSCOPE_C_REGION_START(outer);
  STEPSCOPE_C_REGION_START(crossing);
  STEPSCOPE_C_REGION_UPDATE_INT(outer, "bytes", -5000000000LL);
  STEPSCOPE_C_REGION_END(outer);
  STEPSCOPE_C_REGION_END(crossing);
  STEPSCOPE_C_FUNCTION_END();
  return 0;
}
int main(int count, char** words) {
  (void)count;
  work(1);
  if (STEPSCOPE_C_INIT(words[1]) != 0) return 1;
  work(2);
  STEPSCOPE_C_FINI();
  work(3);
  return 0;
}
"""
CPP = r"""
#define STEPSCOPE_AS_DFTRACER
#include "stepscope/io.h"
#include <stdexcept>
void fail(int epoch) {
  DFTRACER_CPP_FUNCTION();
  DFTRACER_CPP_FUNCTION_UPDATE("epoch", epoch);
  throw std::runtime_error("planned");
}
int main(int, char** words) {
  DFTRACER_CPP_INIT(words[1], "/data", nullptr);
  try { fail(3); } catch (const std::exception&) {}
  {
    DFTRACER_CPP_REGION(block);
    DFTRACER_CPP_REGION_UPDATE(block, "name", std::string("x"));
    const std::string text(5000, 'y');
    DFTRACER_CPP_REGION_UPDATE(block, "too long", text);
    DFTRACER_CPP_REGION_UPDATE(block, "after", 7u);
  }
  DFTRACER_CPP_REGION_START(part);
  DFTRACER_CPP_REGION_END(part);
  DFTRACER_CPP_FINI();
}
"""


def ranges(folder, text, name, compiler, *options):
    words = shutil.which(os.environ.get("CXX" if "++" in compiler else "CC", compiler).split()[0]) or shutil.which(compiler)
    if words is None:
        pytest.skip(f"there is no {compiler}")
    (folder / name).write_text(text)
    program = [words, *options, "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", name, str(LIBRARY), f"-Wl,-rpath,{LIBRARY.parent}", "-o", "program"]
    subprocess.run(program, cwd=folder, check=True)
    subprocess.run(["./program", "run.stepscope"], cwd=folder, check=True, timeout=60)
    assert _core.export_recording(os.fsencode(folder / "run.stepscope"), os.fsencode(folder / "run.json"), []) == []
    events = json.loads((folder / "run.json").read_text())["traceEvents"]
    own = ("External id", "Ev Idx", "Record function id")
    return {
        one["name"]: {key: value for key, value in one["args"].items() if key not in own} for one in events if one.get("cat") == "user_annotation"
    }


def test_c(tmp_path):
    found = ranges(tmp_path, C, "program.c", "cc", "-std=c99")
    assert found == {
        "work": {"cat": "C_APP", "step": 2, "path": 'a"b\\c\ndé'},
        "outer": {"cat": "C_APP", "bytes": -5000000000},
        "crossing": {"cat": "C_APP"},
    }


def test_cpp_with_dftracers_names(tmp_path):
    found = ranges(tmp_path, CPP, "program.cpp", "c++", "-std=c++17")
    assert found == {
        "fail": {"cat": "CPP_APP", "epoch": 3},
        "block": {"cat": "CPP_APP", "name": "x", "after": 7},
        "part": {"cat": "CPP_APP"},
    }

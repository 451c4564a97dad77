"""The example notebooks run from first to last cell, and are stored without outputs."""

import json

import pytest

from program import ROOT

NOTEBOOKS = ["why_is_my_step_slow", "my_own_analysis"]


def run(name, tmp_path, monkeypatch):
    """The notebook with its outputs."""
    for folder in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "MPLCONFIGDIR"):  # no home is needed
        monkeypatch.setenv(folder, str(tmp_path))
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.read(ROOT / "examples" / f"{name}.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": ROOT / "examples"}}).execute()
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def drawn(outputs, kind):
    return [output.data[kind] for output in outputs if kind in output.get("data", {})]


def test_the_report_of_a_step(tmp_path, monkeypatch):
    html = drawn(run("why_is_my_step_slow", tmp_path, monkeypatch), "text/html")
    assert sum(piece.startswith('<div class="stepscope-') for piece in html) == 2
    assert any("data_loader" in piece and "<table" in piece for piece in html)


def test_an_own_analysis(tmp_path, monkeypatch):
    pytest.importorskip("pandas"), pytest.importorskip("matplotlib")
    outputs = run("my_own_analysis", tmp_path, monkeypatch)
    html = drawn(outputs, "text/html")
    assert len(drawn(outputs, "image/png")) == 1
    assert any("gap_ns" in piece or "operator" in piece for piece in html if "<table" in piece)
    assert sum(piece.startswith('<div class="stepscope-') for piece in html) == 3
    printed = "".join(output.get("text", "") for output in outputs)
    assert "before" in printed and "after" in printed


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_they_are_kept_without_outputs(name):
    text = (ROOT / "examples" / f"{name}.ipynb").read_text()
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert cells and all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)

"""The example notebook runs from first to last cell, and is stored without outputs."""

import json

import pytest

from conftest import ROOT

NOTEBOOK = ROOT / "examples" / "why_is_my_step_slow.ipynb"


def test_the_example_notebook_runs(tmp_path, monkeypatch):
    for folder in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"):  # no home is needed
        monkeypatch.setenv(folder, str(tmp_path))
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": NOTEBOOK.parent}}).execute()
    drawn = [output.data["text/html"] for cell in notebook.cells for output in cell.get("outputs", [])
             if "text/html" in output.get("data", {})]
    assert sum(html.startswith('<div class="stepscope-') for html in drawn) == 2
    assert any("data_loader" in html and "<table" in html for html in drawn)


def test_it_is_kept_without_outputs():
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    assert cells and all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)

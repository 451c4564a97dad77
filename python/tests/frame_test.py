"""The page in a notebook: drawn when the cell runs, and again when the saved notebook is opened."""

import html
import json
import re

import pytest
import stepscope

from embedded import look
from program import ROOT, SAMPLES


def the_file(drawn):
    """What the frame holds."""
    return html.unescape(re.search(r"srcdoc='([^']*)'", drawn)[1])


def test_it_holds_the_report(one_rank):
    frame = one_rank.show("#/timeline?t=1,2", height=500, top=3)
    drawn = frame._repr_html_()
    assert the_file(drawn).replace('<meta name="stepscope-view" content="#/timeline?t=1,2">', "") == one_rank.report(top=3).to_html()
    assert 'sandbox="allow-scripts allow-popups allow-downloads"' in drawn and "height:500px" in drawn
    assert "allow-same-origin" not in drawn and "max_size" not in drawn
    assert str(frame) == str(one_rank.report(top=3)) and "#/timeline" in repr(frame) and "<iframe" not in repr(frame)


def test_views(one_rank):
    assert one_rank.show().view == "#/verdict"
    assert [one_rank.show(text).view for text in ("kernels", "/kernels", "#/kernels")] == ["#/kernels"] * 3
    with pytest.raises(stepscope.UsageError, match="there is no view 'kernel'; the views are verdict, timeline"):
        one_rank.show("kernel")
    with pytest.raises(TypeError):
        one_rank.show(nonsense=1)
    pages = re.findall(r"\{ id: '(\w+)'", (ROOT / "web/src/words/pages.ts").read_text())
    assert list(stepscope._frame.VIEWS) == pages


def test_names_of_a_recording_are_text(tmp_path):
    path = tmp_path / "a'b\"<script>alert(1)<.json"
    path.write_bytes((SAMPLES / "generated_slow_input.json.gz").read_bytes())
    drawn = stepscope.open(path).show("timeline?q='\"><script>")._repr_html_()
    outside = re.sub(r"srcdoc='[^']*'", "", drawn)
    assert "<script" not in outside and outside.count("<iframe") == 1
    assert "content=\"#/timeline?q=&#x27;&quot;&gt;&lt;script&gt;\"" in the_file(drawn)


def test_large_ones_say_their_size(one_rank, monkeypatch):
    monkeypatch.setattr(stepscope._frame, "LARGE", 1000)
    assert re.search(r"<p>\d+ MB of this notebook hold this page", one_rank.show()._repr_html_())


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_a_saved_notebook_in_a_browser(tmp_path, monkeypatch, mode):
    for folder in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(folder, str(tmp_path))
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    cells = ["import stepscope", f"trace = stepscope.open({str(SAMPLES / 'generated_slow_input.json.gz')!r})", 'trace.show("timeline")']
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    nbclient.NotebookClient(notebook, timeout=120).execute()
    nbformat.write(notebook, tmp_path / "saved.ipynb")
    saved = json.loads((tmp_path / "saved.ipynb").read_text())
    [output] = saved["cells"][-1]["outputs"]
    assert "<stepscope.Frame #/timeline" in "".join(output["data"]["text/plain"])
    drawn = "".join(output["data"]["text/html"])
    (tmp_path / "saved.html").write_text(f"<!doctype html><html lang=en><title>saved</title><body>{drawn}</body></html>", encoding="utf-8")
    found = look(f"file://{tmp_path}/saved.html", "notebook", mode)
    is_live = 'id="page"' in the_file(drawn)
    assert found["frame"].startswith("about:srcdoc") and found["top"].endswith("saved.html")
    assert found["said"] == [] and [url for url in found["requests"] if not re.match("(file|data|blob|about):", url)] == []
    assert len(found["shown"]) == (2 if is_live else 1)
    if is_live:
        assert [one["view"] for one in found["shown"]] == ["page-timeline", "page-verdict"]
        assert all(one["failures"] == 0 for one in found["shown"])
    assert "the device idles 67.3 %" in found["shown"][-1]["text"]

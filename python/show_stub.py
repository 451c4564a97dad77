"""Writes _show.pyi: the analyses of a built module as typed methods.

python show_stub.py FOLDER-OF-THE-MODULE OUTPUT
"""

import pathlib
import sys

sys.path[:0] = [sys.argv[1], str(pathlib.Path(__file__).parent)]
import _core  # noqa: E402

sys.modules["stepscope._core"] = _core
from stepscope._show import stub  # noqa: E402

pathlib.Path(sys.argv[2]).write_text(stub(), encoding="utf-8")

"""Every analysis as a method, made from the params that the engine declares."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from stepscope._ask import Analysis, Param, analyses
from stepscope._frame import Frame

if TYPE_CHECKING:
    from stepscope._report import Report
    from stepscope._trace import Steps, Trace


class _Type(str):
    """A type, drawn without quotes in a signature."""

    __repr__ = str.__str__


_TYPES = {"flag": "bool", "integer": "int", "percentage": "float", "text": "str", "texts": "str | Iterable[str]",
          "steps": "int | str | range"}


def _type_of(param: Param) -> str:
    if param.type == "choice":
        return f"Literal[{', '.join(map(repr, param.choices))}] | None"
    return _TYPES[param.type] + ("" if param.type == "flag" else " | None")


def params_of(analysis: Analysis) -> list[Param]:
    """Its params, and the package's own."""
    if any(param.name == "rank" for param in analysis.params):
        return list(analysis.params)
    return [*analysis.params, Param("rank", "integer", "", (), "only rows of this rank; the answer is computed for all")]


def doc_of(analysis: Analysis) -> str:
    lines = [f"{analysis.one_line[0].upper()}{analysis.one_line[1:]}.", ""]
    lines += [f"{param.name}: {param.help}" + (f" (default: {param.default})" if param.default else "")
              for param in params_of(analysis)]
    return "\n".join([*lines, "", analysis.doc.strip()]).strip()


class Show:
    """Each analysis as a method: ``trace.show.kernels(top=5)``. ``help(trace.show.kernels)`` explains its columns.

    Called, the page itself in a notebook: ``trace.show("timeline")``.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def __call__(self, view: str = "verdict", *, height: int = 800, step: Steps = None, top: int | None = None,
                 **file: Any) -> Frame:
        """The page in a notebook's cell: a view's name, or what follows the ``#/`` of its address.

        ``height`` is in pixels. ``file`` are options of :meth:`stepscope.Page.to_html`.
        """
        return Frame(self._trace.report(step=step, top=top), view, height, file)

    def __repr__(self) -> str:
        return f"<the analyses of {self._trace!r}: {', '.join(one.name for one in analyses())}>"


def _method(analysis: Analysis) -> Any:
    def show(self: Show, **params: Any) -> Report:
        return self._trace.analyze(analysis.name, **params)

    keyword = inspect.Parameter.KEYWORD_ONLY
    given = [inspect.Parameter(param.name, keyword, default=False if param.type == "flag" else None,
                               annotation=_Type(_type_of(param))) for param in params_of(analysis)]
    of = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    show.__name__, show.__qualname__, show.__doc__ = analysis.name, f"Show.{analysis.name}", doc_of(analysis)
    show.__signature__ = inspect.Signature([of, *given], return_annotation=_Type("Report"))  # type: ignore[attr-defined]
    return show


for _analysis in analyses():
    setattr(Show, _analysis.name, _method(_analysis))


def stub() -> str:
    """This module's types, for editors and type checkers; the build writes them to _show.pyi."""
    names = ", ".join(repr(one.name) for one in analyses())
    out = ['"""Made from the params that the engine declares."""', "", "from collections.abc import Iterable",
           "from typing import Any, Literal", "", "from stepscope._frame import Frame", "from stepscope._report import Report",
           "from stepscope._trace import Steps, Trace",
           "", f"AnalysisName = Literal[{names}]", "", "class Show:", f'    """{Show.__doc__}"""', "",
           "    def __init__(self, trace: Trace) -> None: ...",
           "    def __call__(self, view: str = ..., *, height: int = ..., step: Steps = ..., top: int | None = ..., **file: Any) -> Frame:",
           f'        """{Show.__call__.__doc__}"""', "        ..."]
    for one in analyses():
        params = "".join(f", {param.name}: {_type_of(param)} = ..." for param in params_of(one))
        text = doc_of(one).replace("\\", "\\\\").replace('"""', '\\"\\"\\"').replace("\n", "\n        ")
        text = "\n".join(line.rstrip() for line in text.split("\n"))
        out += [f"    def {one.name}(self, *{params}) -> Report:", f'        """{text}', '        """', "        ..."]
    return "\n".join(out) + "\n"

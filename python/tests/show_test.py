"""Analyses as methods: the params that the engine declares, for editors and help()."""

import inspect
import pydoc

import pytest
import stepscope


def test_every_analysis_is_a_method_with_its_params(one_rank):
    for analysis in stepscope.analyses():
        method = getattr(one_rank.show, analysis.name)
        params = inspect.signature(method).parameters
        own = [param.name for param in analysis.params]
        assert list(params) == own + ([] if "rank" in own else ["rank"])
        assert all(param.kind is param.KEYWORD_ONLY for param in params.values())
        assert analysis.doc.strip() in method.__doc__ and all(param.help in method.__doc__ for param in analysis.params)
        assert analysis.name in dir(one_rank.show)


def test_a_method_answers_as_analyze_does(one_rank):
    assert one_rank.show.kernels(top=3, sort="count").to_json() == one_rank.analyze("kernels", top=3, sort="count").to_json()
    assert one_rank.show.kernels(tb_compat=True).to_json() == one_rank.analyze("kernels", tb_compat=True).to_json()
    with pytest.raises(stepscope.UsageError, match="'topp' is not an option here. Did you mean 'top'?"):
        one_rank.show.kernels(topp=3)
    with pytest.raises(AttributeError):
        one_rank.show.kernel


def test_help_teaches(one_rank):
    text = pydoc.render_doc(one_rank.show.kernels, renderer=pydoc.plaintext)
    assert "group: Literal['name', 'properties'] | None = None" in text and "tb_compat: bool = False" in text and "-> Report" in text
    assert "Which kernels ran" in text and "one row per kernel name" in text and "--" not in text.split("### ")[0].split("`")[0]
    assert "kernels" in repr(one_rank.show)


def test_the_stub_is_the_methods(one_rank):
    stub = stepscope._show.stub()
    compile(stub, "_show.pyi", "exec")
    for analysis in stepscope.analyses():
        assert f"    def {analysis.name}(self, *, " in stub
    installed = stepscope._show.__file__.removesuffix(".py") + ".pyi"
    with open(installed, encoding="utf-8") as file:
        assert file.read() == stub

"""Args of annotations by their values, and what a decorated function keeps."""

from __future__ import annotations

import copy
import enum
import functools
import inspect
import json
import math
import os
import pickle
import random
import struct
import sys
import threading

import pytest

pytest.importorskip("stepscope._collect", reason="this build records nothing")

from stepscope import _core  # noqa: E402
from stepscope._collect import members_with  # noqa: E402
from stepscope.io import Node, _log, ai, dft_fn, finalize, initialize_log  # noqa: E402


@pytest.fixture
def recorded(tmp_path):
    """Ends the log, and returns its ranges as (name, args), in order."""
    initialize_log(tmp_path / "run")

    def ranges():
        finalize()
        log = _log.log
        assert _core.export_recording(os.fsencode(log.path), os.fsencode(tmp_path / "run.json"), []) == []
        told = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
        told = sorted((one for one in told if one.get("cat") == "user_annotation"), key=lambda one: one["ts"])
        ours = ("External id", "Ev Idx", "Record function id")
        return [(one["name"], {key: value for key, value in one["args"].items() if key not in ours}) for one in told]

    yield ranges
    finalize()
    _log.log = None


class Level(enum.IntEnum):
    HIGH = 3


class Share(float):
    def __repr__(self):
        return "a share"


class Text(str):
    def __str__(self):
        return "its text"


class Scalar:
    def __init__(self, number):
        self.number = number

    def item(self):
        if isinstance(self.number, Exception):
            raise self.number
        return self.number

    def __str__(self):
        return "a scalar"


class Silent:
    def __str__(self):
        raise ZeroDivisionError("no text")


@pytest.mark.parametrize(
    ("value", "json_text"),
    [
        (0, "0"),
        (-7, "-7"),
        (2**63 - 1, "9223372036854775807"),
        (-(2**63), "-9223372036854775808"),
        (2**63, "9223372036854775808"),
        (10**400, "1" + "0" * 400),
        (Level.HIGH, "3"),
        (True, "true"),
        (False, "false"),
        (None, "null"),
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (0.1, "0.1"),
        (1e16, "1e+16"),
        (9999999999999998.0, "9999999999999998.0"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (Share(0.5), "0.5"),
        (math.nan, '"nan"'),
        (math.inf, '"inf"'),
        (-math.inf, '"-inf"'),
        ("", '""'),
        ("plain", '"plain"'),
        ('a"b\\c/', '"a\\"b\\\\c/"'),
        ("\b\f\n\r\t\0\x1f\x7f", '"\\b\\f\\n\\r\\t\\u0000\\u001f\\u007f"'),
        ("é€😀", '"\\u00e9\\u20ac\\ud83d\\ude00"'),
        ("\ud800x\udfff", '"\\ud800x\\udfff"'),
        ("x" * 1000, '"' + "x" * 1000 + '"'),
        ("é" * 1001, '"' + "\\u00e9" * 999 + '\\u2026"'),
        (Text("other"), '"its text"'),
        (b"a'\"\xff", '"b\'a\\\\\'\\"\\\\xff\'"'),
        ([1, "a"], "\"[1, 'a']\""),
        ({"a": None}, "\"{'a': None}\""),
        (1 + 2j, '"(1+2j)"'),
        (Scalar(4), "4"),
        (Scalar(True), "true"),
        (Scalar(0.25), "0.25"),
        (Scalar(math.nan), '"a scalar"'),
        (Scalar("text"), '"a scalar"'),
        (Scalar(ValueError("several")), '"a scalar"'),
        (Scalar(RuntimeError("meta")), '"a scalar"'),
    ],
)
def test_values(value, json_text):
    assert members_with("", {"key": value}) == f'"key":{json_text}'
    json.loads("{" + members_with('"first":1', {'a"é': value}) + "}")


def test_numpy_scalars():
    numpy = pytest.importorskip("numpy")
    values = {"a": numpy.int64(-3), "b": numpy.uint64(2**64 - 1), "c": numpy.float32(0.5), "d": numpy.bool_(True), "e": numpy.array([7]), "f": numpy.arange(2)}
    assert members_with("", values) == '"a":-3,"b":18446744073709551615,"c":0.5,"d":true,"e":7,"f":"[0 1]"'
    assert members_with("", {"a": numpy.float64("nan"), "b": numpy.float64(0.1), "c": numpy.str_("x")}) == '"a":"nan","b":0.1,"c":"x"'


def test_floats_are_those_of_json():
    random_ones = random.Random(1)
    for _ in range(20_000):
        number = struct.unpack("d", random_ones.randbytes(8))[0]
        for value in (number, random_ones.uniform(-1e17, 1e17), round(random_ones.uniform(-1000, 1000), 3), float(random_ones.randrange(2**60))):
            if math.isfinite(value):
                assert members_with("", {"": value}) == f'"":{value!r}'


def test_an_error_of_a_value_is_the_callers(recorded):
    io = dft_fn("data")
    ran = []

    @io.log(name="call")
    def call(step):
        ran.append(step)

    with pytest.raises(ZeroDivisionError, match="no text"):
        call(Silent())
    with pytest.raises(LookupError):
        call(Scalar(LookupError()))
    assert ran == []
    with pytest.raises(ZeroDivisionError), dft_fn("data", name="block") as block:
        block.update(args={"silent": Silent()})
    with pytest.raises(ZeroDivisionError):
        dft_fn("data", step=Silent())
    call(1)
    assert recorded() == [("block", {"cat": "data"}), ("call", {"cat": "data", "step": 1})]


def test_a_value_may_reset_its_own_range(recorded):
    io = dft_fn("data", name="block")

    class Resetting:
        def __str__(self):
            io.reset()
            return "text"

    with io:
        io.update(args={"one": Resetting(), "two": Resetting()})
        io.update(step=2)
    assert recorded() == [("block", {"cat": "data", "one": "text", "two": "text", "step": 2})]


def test_where_a_calls_values_come_from(recorded):
    io = dft_fn("data", epoch=1)

    class Slotted:
        __slots__ = ("step",)

        @io.log(name="slotted")
        def call(self, epoch=2, **others):
            return others

    class Listed:
        @property
        def __dict__(self):
            raise ValueError("planned")

        @io.log(name="refuses")
        def call(self):
            pass

    @io.log(name="any")
    def takes_any(*given, **named):
        return named

    @io.log_init
    def made(kind):
        pass

    class Kind:
        step = 9

    slotted = Slotted()
    slotted.step = 5
    assert slotted.call(image_idx=3) == {"image_idx": 3}
    slotted.call(7, step=None)
    with pytest.raises(ValueError, match="planned"):
        Listed().call()
    assert takes_any(1, step=4, other=5) == {"step": 4, "other": 5}
    made(Kind)
    assert [args for _, args in recorded()] == [
        {"cat": "data", "epoch": 2, "image_idx": 3}, {"cat": "data", "epoch": 7}, {"cat": "data", "epoch": 1, "step": 4},
        {"cat": "data", "epoch": 1, "step": 9}]  # fmt: skip


def test_update_takes_what_its_signature_says():
    io = dft_fn("data")
    with io as block:
        assert block.update(1, 2, image_size=3, args=[("key", 4)]) is io
        with pytest.raises(TypeError, match="at most 5"):
            block.update(1, 2, 3, 4, {}, 6)
        with pytest.raises(TypeError, match="unexpected keyword argument 'steps'"):
            block.update(steps=1)
        with pytest.raises(TypeError, match="multiple values for argument 'epoch'"):
            block.update(1, epoch=1)
        with pytest.raises(TypeError):
            block.update(args=3)
    names = ["epoch", "step", "image_idx", "image_size", "args"]
    assert list(inspect.signature(block.update).parameters) == names
    if sys.version_info >= (3, 10):  # before, a class in C has no signature
        assert list(inspect.signature(dft_fn).parameters) == ["cat", "name", *names[:4], "enable"]
    with pytest.raises(TypeError):
        dft_fn()
    with pytest.raises(RuntimeError, match="not initialized"):
        dft_fn.__new__(dft_fn).__enter__()


def test_a_range_keeps_what_was_told_when_it_began(recorded):
    io = dft_fn("data", name="block")
    io.update(step=1)
    with io:
        io.update(step=2, args={"more": 3})
        io.update(args={"more": 4})
        io.flush()
        io.update(epoch=5)
    with io:
        pass
    assert [args for _, args in recorded()] == [
        {"cat": "data", "step": 2, "more": 4}, {"cat": "data", "step": 1, "epoch": 5}, {"cat": "data", "step": 1}]  # fmt: skip


def test_args_of_nodes(recorded):
    node = ai.data.item.derive(name="own", foo=None, step=1)
    with node(step=None, image_idx=2, cat="other") as block:
        assert isinstance(block, Node)
        with block(epoch=3, foo="b"), ai.data.item.own:
            pass
    assert recorded() == [
        ("own", {"cat": "other", "image_idx": 2, "foo": None}), ("own", {"cat": "other", "epoch": 3, "image_idx": 2, "foo": "b"}),
        ("own", {"cat": "data", "step": 1, "foo": None})]  # fmt: skip


io_of_module = dft_fn("data", step=1)


@io_of_module.log
def decorated(step, *, key: int = 3) -> int:
    """Its text."""
    return step + key


class Kind:
    @classmethod
    @io_of_module.log
    def of_class(cls, step):
        return cls, step

    @io_of_module.log_static
    @staticmethod
    def of_none(step):
        return step


def test_a_decorated_function_is_a_function():
    assert inspect.isfunction(decorated) and decorated.__wrapped__.__name__ == "decorated"
    assert (decorated.__name__, decorated.__qualname__, decorated.__doc__, decorated.__module__) == ("decorated", "decorated", "Its text.", __name__)
    assert str(inspect.signature(decorated)) == "(step, *, key: 'int' = 3) -> 'int'"
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    assert Kind.of_class(2) == (Kind, 2) == Kind().of_class(2) and Kind.of_none(3) == 3 == Kind().of_none(3)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, *(lambda one, n=n: pickle.loads(pickle.dumps(one, n)) for n in range(2, 6))])
def test_annotations_are_pickled(recorded, again):
    io = dft_fn("data", name="mine", step=1)
    io.update(epoch=2)
    with again(io), again(ai.compute)(step=3), again(ai).compute.forward:
        pass
    assert recorded() == [
        ("mine", {"cat": "data", "epoch": 2, "step": 1}), ("compute", {"cat": "compute", "step": 3}), ("forward", {"cat": "compute"})]  # fmt: skip


def test_a_recording_that_begins_within_a_call_or_ends(tmp_path, recorded):
    io = dft_fn("data", name="block")

    @io.log(name="call")
    def call(step):
        finalize()
        _log.log = None
        initialize_log(tmp_path / "other")
        with io:
            pass
        return step

    with io:
        assert call(1) == 1
        io.flush()
    with io:
        ranges = recorded()
    assert ranges == [("block", {"cat": "data"}), ("block", {"cat": "data"})]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_in_a_range(recorded):
    io = dft_fn("data", name="block")
    with io:
        child = os.fork()
        if child == 0:
            with io as block:
                block.update(step=1)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    assert recorded() == [("block", {"cat": "data"})]


def test_many_threads(recorded):
    io = dft_fn("data", name="block")

    def work(number):
        for step in range(200):
            with io as block:
                block.update(step=step, args={"thread": number})

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    [one.start() for one in threads]
    [one.join() for one in threads]
    sys.setswitchinterval(interval)
    told = sorted((args["thread"], args["step"]) for _, args in recorded())
    assert told == [(number, step) for number in range(4) for step in range(200)]


def test_a_node_called_with_args_is_a_block_of_its_own(recorded):
    args = {"step": 4, "note": "kept"}
    forward = ai.compute.forward
    ready = functools.partial(forward, step=5)
    block = forward(**args)
    args["step"] = 0
    for one in (block, ready(), ready(epoch=1), forward(step=6)(epoch=2), forward(step=None), forward(enable=False, step=7), forward()):
        with one:
            pass
    cat = {"cat": "compute"}
    assert [args for _, args in recorded()] == [
        {**cat, "step": 4, "note": "kept"}, {**cat, "step": 5}, {**cat, "epoch": 1, "step": 5}, {**cat, "epoch": 2, "step": 6}, cat, cat]
    assert forward._fixed == {}


def test_a_node_decorates_only_what_it_is_on_for():
    def function():
        pass

    forward = ai.compute.forward
    assert forward(function, enable=False) is function is forward(enable=False)(function)
    assert forward(function) is not function and forward(step=3)(function) is not function
    with pytest.raises(TypeError):
        forward(function, function)
    with pytest.raises(TypeError, match="at most 5 arguments"):
        forward.update(1, 2, 3, 4, {}, 6)
    with pytest.raises(TypeError, match="multiple values for argument 'epoch'"):
        forward.update(1, epoch=2)
    with pytest.raises(TypeError, match="unexpected keyword argument 'color'"):
        dft_fn("data", color=1)
    with pytest.raises(TypeError, match="needs the argument 'cat'"):
        dft_fn(name="decode")

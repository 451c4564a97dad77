"""The observer is there before the tests, so that no recording depends on what was recorded before."""

import contextlib

import pytest


@pytest.fixture(scope="session", autouse=True)
def observer_is_there():
    try:
        import torch
    except ImportError:
        return
    from stepscope import Error
    from stepscope.profiler._observer import observer

    with contextlib.suppress(Error):  # tests that need it say so
        observer(torch)

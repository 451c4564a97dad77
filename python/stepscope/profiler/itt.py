"""``torch.profiler.itt``'s functions; the ranges go into the recording."""

from stepscope.profiler._annotations import mark, range, range_pop, range_push  # noqa: A004

__all__ = ["is_available", "mark", "range", "range_pop", "range_push"]


def is_available() -> bool:
    return True

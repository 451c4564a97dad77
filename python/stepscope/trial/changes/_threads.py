"""Shared by the changes of the number of threads."""

from __future__ import annotations

from stepscope.trial.changes import Target, Undo, effect, replace


def force(target: Target, number: int) -> Undo:
    """Sets the number and keeps the program from setting another."""
    torch = target.torch
    before = torch.get_num_threads()
    original = torch.set_num_threads
    original(number)
    effect(f"set_num_threads({number})")
    back = replace(torch, "set_num_threads", lambda asked: None)

    def undo() -> None:
        back()
        original(before)

    return undo

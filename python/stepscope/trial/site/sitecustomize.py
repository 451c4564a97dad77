"""Python runs this first in every process of a program under `stepscope try`. It waits for an import of PyTorch."""

import importlib.machinery
import importlib.util
import os
import sys


class WhenTorchIsImported:
    def find_spec(self, name, path=None, target=None):  # type: ignore[no-untyped-def]
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        found = importlib.util.find_spec(name)
        if found is None or found.loader is None:
            return found
        load = found.loader.exec_module

        def exec_module(module):  # type: ignore[no-untyped-def]
            load(module)
            try:
                from stepscope.trial import _copy
            except ImportError as error:
                print(f"stepscope: {sys.executable} cannot import stepscope ({error}); install the package for it", file=sys.stderr)
                return
            _copy.begin(module)

        found.loader.exec_module = exec_module  # type: ignore[method-assign]
        return found


here = os.path.dirname(os.path.abspath(__file__))
if os.environ.get("STEPSCOPE_TRIAL"):
    sys.meta_path.insert(0, WhenTorchIsImported())
    if os.environ.get("STEPSCOPE_TRIAL_SEED"):
        import random

        random.seed(int(os.environ["STEPSCOPE_TRIAL_SEED"]))
sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != here]
behind = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
if behind is not None and behind.loader is not None:  # the sitecustomize that this one hides
    module = importlib.util.module_from_spec(behind)
    behind.loader.exec_module(module)

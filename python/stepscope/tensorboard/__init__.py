"""A tab of TensorBoard with stepscope's page about the recordings in its log folder.

TensorBoard finds it by the entry point ``tensorboard_plugins``. A ``stepscope serve`` of its own answers what the tab asks.
"""

from __future__ import annotations

from typing import Any

from tensorboard.plugins import base_plugin

from stepscope.tensorboard._folders import Watch, log_folders
from stepscope.tensorboard._passing import App, page, script
from stepscope.tensorboard._server import Server


class Plugin(base_plugin.TBPlugin):  # type: ignore[misc]  # TensorBoard has no types
    plugin_name = "stepscope"

    def __init__(self, context: Any) -> None:
        folders = log_folders(context)
        self._server = Server(folders)
        self._watch = Watch(folders)

    def get_plugin_apps(self) -> dict[str, App]:
        shown = page(self._server)
        return {"/entry.js": script("entry.js"), "/page": shown, "/page/*": shown}

    def is_active(self) -> bool:
        return self._watch.found()

    def frontend_metadata(self) -> Any:
        return base_plugin.FrontendMetadata(es_module_path="/entry.js", tab_name="stepscope", disable_reload=True)

"""JupyterHub's own configuration file for a class; `make hub` starts JupyterHub with it."""

from pathlib import Path

from hub.configuration import configuration
from hub.prepare import ready_hub

c = get_config()  # type: ignore[name-defined]  # noqa: F821 (JupyterHub provides it)
c.merge(configuration(ready_hub(Path(__file__).resolve().parents[1])))

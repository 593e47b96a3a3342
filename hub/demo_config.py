"""JupyterHub's own configuration file for the demo; `make hub-demo` starts JupyterHub with it."""

from pathlib import Path

from hub.demo import demo_configuration

c = get_config()  # type: ignore[name-defined]  # noqa: F821 (JupyterHub provides it)
c.merge(demo_configuration(Path(__file__).resolve().parents[1]))

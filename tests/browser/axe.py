"""What axe-core, the accessibility checker, finds in the page that a browser shows."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tests.browser.chrome import Chrome


@cache
def program() -> str:
    """axe-core's JavaScript, which is all that is used of the package."""
    spec = find_spec("axe_core_python")
    assert spec is not None and spec.origin is not None, "sh setup.sh test installs it"
    return Path(spec.origin).with_name("axe.min.js").read_text(encoding="utf-8")


def findings(page: Chrome) -> list[list[str]]:
    """Each rule that is broken, with the elements that break it."""
    page.wait("document.getAnimations().every(one => one.playState !== 'running')")  # colours fade
    page.call("Runtime.evaluate", expression=program())
    # All rules on all elements; what is left out is the account of elements that break none.
    found: list[list[str]] = page.run(
        "axe.run({resultTypes: ['violations'], selectors: false}).then(found =>"
        " found.violations.map(v => [v.id, ...v.nodes.map(node => node.html.slice(0, 200))]))"
    )
    return found

"""What axe-core, the accessibility checker, finds in the page that a browser shows."""

import json
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tests.browser.chrome import Chrome

# Half of the time would go into the contrast of each word of code. Contrast follows from how a word
# and all that it lies in are painted: a block of code is left out of that rule, and of no other, if
# each of its words is painted like a word of an earlier block.
ALIKE = """
const painted = ['color', 'backgroundColor', 'backgroundImage', 'opacity', 'fontSize',
                 'fontWeight', 'textShadow', 'filter', 'mixBlendMode', 'display', 'visibility'];
const looks = new Map([[null, '']]);
const look = element => {
    if (!looks.has(element)) {
        const style = getComputedStyle(element);
        const own = painted.map(name => style[name]).join();
        looks.set(element, look(element.parentElement) + '|' + own);
    }
    return looks.get(element);
};
const seen = new Set();
for (const block of document.querySelectorAll('pre')) {
    const words = [block, ...block.querySelectorAll('*')];
    const known = words.every(word => seen.has(look(word)));
    words.forEach(word => { seen.add(look(word)); word.toggleAttribute('data-alike', known); });
}
"""
RUN = """
(async () => {
    %s
    const selector = '*:not([data-alike])';
    axe.configure({rules: [{id: 'color-contrast', selector}]});
    // What is left out is the account of elements that break no rule.
    const found = await axe.run({resultTypes: ['violations'], selectors: false, ...%s});
    return found.violations.map(
        rule => [rule.id, ...rule.nodes.map(node => node.html.slice(0, 200))]);
})()
"""
# Rules on what is seen: a theme paints, shows and hides. All others are about a page's structure.
SEEN = ["color-contrast", "image-alt", "link-in-text-block", "link-name", "button-name"]


@cache
def program() -> str:
    """axe-core's JavaScript, which is all that is used of the package."""
    spec = find_spec("axe_core_python")
    assert spec is not None and spec.origin is not None, "sh setup.sh test installs it"
    return Path(spec.origin).with_name("axe.min.js").read_text(encoding="utf-8")


def findings(page: Chrome, rules: Sequence[str] = ()) -> list[list[str]]:
    """Each rule that is broken, of the named ones or of all, with the elements that break it."""
    page.wait("document.getAnimations().every(one => one.playState !== 'running')")  # colours fade
    page.call("Runtime.evaluate", expression=program())
    options = json.dumps({"runOnly": list(rules)} if rules else {})
    found: list[list[str]] = page.run(RUN % (ALIKE, options))
    return found

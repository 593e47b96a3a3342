"""What axe-core, the accessibility checker, finds in the page that a browser shows."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tests.browser.chrome import Chrome

# Two thirds of the time go into the contrast of each word of code. Contrast follows from how a word
# and all that it lies in are painted: a block of code is left out of that rule, and of no other, if
# each of its words is painted like a word of an earlier block.
CONTRAST = """
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
const repeated = [...document.querySelectorAll('pre')].filter(block => {
    const words = [block, ...block.querySelectorAll('*')].map(look);
    const known = words.every(word => seen.has(word));
    words.forEach(word => seen.add(word));
    return known;
});
"""
RUN = """
(async () => {
    %s
    const options = {resultTypes: ['violations'], selectors: false};
    const contrast = {...options, runOnly: ['color-contrast']};
    const others = {...options, rules: {'color-contrast': {enabled: false}}};
    const found = [await axe.run(others)];
    repeated.forEach(block => block.hidden = true);
    found.push(await axe.run(contrast));
    repeated.forEach(block => block.hidden = false);
    // What is left out is the account of elements that break no rule.
    return found.flatMap(one => one.violations).map(
        rule => [rule.id, ...rule.nodes.map(node => node.html.slice(0, 200))]);
})()
"""


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
    found: list[list[str]] = page.run(RUN % CONTRAST)
    return found

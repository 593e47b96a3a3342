"""The page over texts shows for each the nearest, as PyTorch finds them."""

import json

import pytest
import torch
from torch.nn import functional as F

from tests.browser.axe import findings
from tests.browser.chrome import Chrome
from utils.errors import UserError
from utils.own_page.texts import write_texts

TEXTS = ["a <b>dog</b>", "a $cat", "</script><p id=x>", "rain", "snow", "ice", "50% off", "Čeština"]


@pytest.fixture(scope="module", name="browser")
def _browser(chromium, tmp_path_factory):
    with Chrome(chromium, tmp_path_factory.mktemp("profile")) as chrome:
        yield chrome


@pytest.fixture(scope="module", name="vectors")
def _vectors():
    torch.manual_seed(0)
    return F.normalize(torch.randn(len(TEXTS), 5), dim=-1)


@pytest.fixture(scope="module", name="shown")
def _shown(browser, vectors, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "my_texts.html"
    told = write_texts(path, TEXTS, vectors, about="Mine & yours")
    browser.open(path.as_uri())
    browser.wait("document.querySelectorAll('#near button').length > 0", 30)
    assert f"{len(TEXTS)} texts" in told
    return browser


def lines(browser, place):
    script = (
        f"JSON.stringify([...document.querySelectorAll('{place} button')].map(b => b.textContent))"
    )
    return json.loads(browser.run(script))


@pytest.mark.parametrize("chosen", range(len(TEXTS)))
def test_a_click_shows_the_five_nearest_with_their_cosines(shown, vectors, chosen):
    shown.run(f"document.querySelectorAll('#texts button')[{chosen}].click()")
    cosines = F.cosine_similarity(vectors[chosen][None], vectors)
    others = sorted((n for n in range(len(TEXTS)) if n != chosen), key=lambda n: -cosines[n])
    assert lines(shown, "#near") == [f"{cosines[n]:.2f}  {TEXTS[n]}" for n in others[:5]]
    assert shown.run("document.getElementById('chosen').textContent").endswith(TEXTS[chosen])


def test_a_nearest_text_can_be_clicked_in_turn(shown):
    first = lines(shown, "#near")[0].split("  ", 1)[1]
    shown.run("document.querySelector('#near button').click()")
    assert shown.run("document.getElementById('chosen').textContent").endswith(first)


def test_typing_narrows_the_list_whatever_the_capitals(shown):
    shown.run("const f = document.getElementById('find'); f.value = 'A'; f.oninput()")
    assert lines(shown, "#texts") == [text for text in TEXTS if "a" in text.lower()]
    shown.run("f.value = ''; f.oninput()")
    assert lines(shown, "#texts") == TEXTS


def test_markup_stays_text_and_nothing_is_asked_of_a_server(shown):
    assert shown.run("document.getElementById('x') === null")
    assert shown.run("performance.getEntriesByType('resource').length") == 0


def test_axe_finds_nothing(shown):
    assert not findings(shown)


@pytest.mark.parametrize(("texts", "n_vectors"), [(["one"], 1), (["one", "two"], 3), ([], 0)])
def test_too_few_texts_or_vectors_are_refused_with_what_to_give(tmp_path, texts, n_vectors):
    with pytest.raises(UserError, match="a vector for each"):
        write_texts(tmp_path / "x.html", texts, torch.ones(n_vectors, 3))
    assert not (tmp_path / "x.html").exists()

"""The page of one's own computes what PyTorch computes, and shows it to a person."""

import json
import math
import random
from html import escape
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from bench.lesson_code import NEEDED, solution
from tests.browser.axe import findings
from tests.browser.chrome import Chrome
from utils.own_page.export import LONGEST, write_page
from utils.treebank.affixes import Lexicon

LESSON = SimpleNamespace(
    **solution((*NEEDED, "WithNeighbours", "RotaryAttention", "TransformerEncoder"))
)
TRAIN = [["I", "saw", "her", "duck", "."], ["Ducks", "don't", "fly", "in", "2024", "!"]] * 2
TAGS = ["ADP", "NOUN", "PRON|Acc", "PRON|Gen", "VERB"]
HEADS, WIDTH, INNER, LAYERS, BASE = 3, 12, 10, 2, 30.0
KINDS = ("sinusoidal", "rotary", "neighbours")


@pytest.fixture(scope="module")
def browser(chromium, tmp_path_factory):
    with Chrome(chromium, tmp_path_factory.mktemp("profile")) as chrome:
        yield chrome


def lexicon():
    return Lexicon.of(TRAIN, [], LESSON.build_vocab, 2, 2)


def tagger(kind, known):
    """A tagger of a student's blocks whose weights are all drawn, gains and filters too."""
    torch.manual_seed(len(kind))
    encoder = LESSON.TransformerEncoder(len(known.vocab), WIDTH, HEADS, LAYERS, INNER, 99, 0.0)
    encoder.positions = nn.Sequential(nn.Dropout(0.5), encoder.positions)
    if kind != "sinusoidal":
        encoder.positions = nn.Dropout(0.5)
        for layer in encoder.layers:
            layer.self_attention = LESSON.RotaryAttention(WIDTH, HEADS, base=BASE)
    if kind == "neighbours":
        encoder.layers = nn.ModuleList(LESSON.WithNeighbours(x, WIDTH) for x in encoder.layers)
    made = LESSON.Tagger(encoder, len(TAGS), known.feature_sizes)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return made


def page(folder, kind, sentences=(TRAIN[0], TRAIN[1]), **options):
    known, path = lexicon(), folder / "my_encoder.html"
    made = tagger(kind, known)
    base = None if kind == "sinusoidal" else BASE
    write_page(path, made, known, TAGS, sentences, n_heads=HEADS, base=base, **options)
    return path, made, known


def show(browser, path):
    browser.open(path.as_uri())
    browser.wait(f"location.href === {path.as_uri()!r} && !!document.querySelector('#words b')", 30)


def of_torch(made, known, words):
    """Logits of the model with its weights rounded to float16."""
    rounded = tagger_like(made)
    own = known.of_words(words)
    with torch.no_grad():
        return own.around(rounded).eval()(torch.tensor([[own[word] for word in words]]))[0]


def tagger_like(made):
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.copy_(parameter.half().float())
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_a_hundred_sentences_get_the_logits_of_torch_with_the_same_rounded_weights(
    browser, tmp_path, kind
):
    path, made, known = page(tmp_path, kind)
    draw = random.Random(1)
    words = ["I", "her", "Ducks", "ducking", "2024", "Straße", "x", "naïve", "don't", "."]
    asked = [draw.choices(words, k=draw.randint(1, 9)) for _ in range(99)] + [["I"] * LONGEST]
    show(browser, path)
    told = browser.run(f"{json.dumps(asked)}.map(words => encoded(words).logits.map(x => [...x]))")
    for sentence, logits in zip(asked, told, strict=True):
        torch.testing.assert_close(
            torch.tensor(logits), of_torch(made, known, sentence), atol=1e-4, rtol=0
        )
    assert "computes what PyTorch computed" in browser.run("place('same').textContent")


def test_a_page_whose_encoder_is_another_says_so(browser, tmp_path):
    path, *_ = page(tmp_path, "rotary")
    path.write_text(path.read_text().replace('"base": 30.0', '"base": 31.0'))
    show(browser, path)
    assert browser.run("place('same').textContent").startswith("Careful: this page's logits differ")


def test_a_sentence_is_cut_into_words_as_the_treebank_has_them(browser, tmp_path):
    show(browser, page(tmp_path, "rotary")[0])
    text = "I don't know: she's 3.5 years-old, isn't she (really)?"
    assert browser.run(f"split({json.dumps(text)})") == [
        "I", "do", "n't", "know", ":", "she", "'s", "3.5", "years-old", ",", "is", "n't", "she",
        "(", "really", ")", "?",
    ]  # fmt: skip


def buttons(browser):
    return browser.run("[...document.querySelectorAll('#words li')].map(x => x.innerText)")


def test_a_word_that_is_crossed_out_is_left_out_and_tags_that_fall_are_named(browser, tmp_path):
    path, made, known = page(tmp_path, "rotary")
    show(browser, path)
    whole = [TAGS[i] for i in of_torch(made, known, TRAIN[0]).argmax(-1).tolist()]
    fallen = {}
    for gone in range(len(TRAIN[0])):
        left, before = TRAIN[0][:gone] + TRAIN[0][gone + 1 :], whole[:gone] + whole[gone + 1 :]
        now = [TAGS[i] for i in of_torch(made, known, left).argmax(-1).tolist()]
        fallen[gone] = [
            word for word, *tags in zip(left, before, now, strict=True) if len(set(tags)) > 1
        ]
        browser.click(f"document.querySelectorAll('.cross')[{gone}]")
        assert "left out" in buttons(browser)[gone]
        shown = [text.split("\n")[1] for text in buttons(browser) if "left out" not in text]
        assert shown == now
        changed = "[...document.querySelectorAll('#words .changed b')].map(x => x.textContent)"
        assert browser.run(changed) == fallen[gone]
        told = browser.run("place('told').textContent")
        assert (", ".join(fallen[gone]) or "No tag changes") in told
        browser.click(f"document.querySelectorAll('.cross')[{gone}]")
        assert "left out" not in "".join(buttons(browser))
    assert any(fallen.values())


def test_a_click_on_a_word_shows_whom_it_asks_in_each_head(browser, tmp_path):
    show(browser, page(tmp_path, "sinusoidal")[0])
    browser.click("document.querySelectorAll('#words li button')[4]")
    assert "“duck”" not in browser.run("place('whom').textContent")
    browser.click("document.querySelectorAll('#words li button')[6]")
    assert "“duck”" in browser.run("place('whom').textContent")
    shares = browser.run("encoded(state.words).weights.flat().map(head => head[3])")
    assert len(shares) == HEADS * LAYERS
    assert all(math.isclose(sum(row), 1, abs_tol=1e-9) for row in shares)
    cells = browser.run(
        "[...document.querySelectorAll('#rows td')].map(x => parseInt(x.innerText))"
    )
    assert cells == [round(100 * row[s] + 1e-9) for s in range(5) for row in shares]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_a_phone_nothing_is_wider_than_the_page_and_axe_finds_nothing(browser, tmp_path, theme):
    about = "Ada, surprised by <b>masks</b>, $model"
    path, *_ = page(tmp_path, "neighbours", about=about, source="a text")
    browser.show(path.as_uri(), 390, theme)
    browser.wait("!!document.querySelector('#words b')", 30)
    assert findings(browser) == []
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    assert browser.run("document.querySelector('main p').textContent") == about


def test_what_a_reader_types_may_be_empty_long_or_markup(browser, tmp_path):
    show(browser, page(tmp_path, "rotary", [["</script>", "<b>", "I"]])[0])
    assert browser.run("state.words.length") > 0

    def enter(text):
        browser.run(f"place('sentence').value = {json.dumps(text)}; read();")

    enter("")
    assert browser.run("document.querySelectorAll('#words li').length") == 0
    enter("<img src=x> " + "duck " * 99)
    assert browser.run("document.querySelectorAll('#words li').length") == LONGEST
    assert browser.run("document.querySelectorAll('img').length") == 0
    assert "Only the first 60 words" in browser.run("place('more').textContent")


def test_the_model_is_left_as_it_was_and_the_size_is_told(tmp_path):
    known = lexicon()
    made = tagger("rotary", known).train()
    before = {name: value.clone() for name, value in made.state_dict().items()}
    path = tmp_path / "page.html"
    told = write_page(path, made, known, TAGS, [TRAIN[0]], n_heads=HEADS, base=BASE)
    assert made.training and all(map(torch.equal, before.values(), made.state_dict().values()))
    assert told.startswith(f"{path}: {path.stat().st_size / 1e6:.1f} MB. Open it in any browser")


def test_where_scripts_do_not_run_the_page_says_how_they_do(browser, tmp_path):
    path, *_ = page(tmp_path, "rotary")
    frame, inside = tmp_path / "frame.html", "document.querySelector('iframe')?.contentDocument"
    shown = escape(path.read_text(encoding="utf-8"))
    frame.write_text(f'<iframe sandbox="allow-same-origin" srcdoc="{shown}"></iframe>')
    browser.open(frame.as_uri())
    browser.wait(f"!!{inside}?.body?.innerText.includes('press Trust HTML')", 30)
    assert browser.run(f"{inside}.querySelectorAll('#words li').length") == 0

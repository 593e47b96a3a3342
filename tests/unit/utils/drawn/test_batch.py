"""Padded batches: a row is as long as its sentence, and grey up to the batch's longest."""

import xml.etree.ElementTree as ET

import pytest
import torch
from torch.nn.utils.rnn import pad_sequence

from utils import drawn
from utils.palette import GREY

SVG = "{http://www.w3.org/2000/svg}"
BATCHES = {"at random": [3, 9, 1, 4], "sorted": [5, 4, 4]}


def rows(picture: drawn.Drawn, name: str) -> list[tuple[float, float]]:
    """Read how long the words and the padding of each sentence are drawn, in CSS pixels."""
    place, root = list(BATCHES).index(name), ET.fromstring(picture.svg())
    lines = [part.attrib for part in root.iter(f"{SVG}line")]
    left = sorted({float(x["x1"]) for x in lines if x["stroke"] != GREY})[place]
    full = [x for x in lines if x["stroke"] != GREY and float(x["x1"]) == left]
    grey = [x for x in lines if x["stroke"] == GREY and left <= float(x["x1"]) <= left + 370]
    return [(float(w["x2"]) - left, float(p["x2"]) - float(p["x1"]))
            for w, p in zip(full, grey, strict=True)]  # fmt: skip


@pytest.mark.parametrize("name", BATCHES)
def test_words_and_padding_are_as_long_as_the_batch_has_them(name):
    token = 370 / 9  # the longest of all sentences is as wide as there is room
    ids = pad_sequence([torch.ones(n) for n in BATCHES[name]], batch_first=True)
    wanted = [(row.sum() * token, (1 - row).sum() * token) for row in ids]
    found = rows(drawn.padded_batches(BATCHES), name)
    for (words, padding), (w, p) in zip(found, wanted, strict=True):
        assert words == pytest.approx(w.item(), abs=0.2)
        assert padding == pytest.approx(p.item(), abs=0.2)


def test_the_share_of_padding_is_that_of_the_padded_tensor():
    picture = drawn.padded_batches(BATCHES)
    for name, lengths in BATCHES.items():
        ids = pad_sequence([torch.ones(n) for n in lengths], batch_first=True)
        assert f"{name}: {(ids == 0).float().mean():.0%} padding" in picture.alt
        assert f"of {min(lengths)} to {max(lengths)} words" in picture.alt


def test_a_batch_without_padding_has_none_and_shows_no_grey_squares():
    picture = drawn.padded_batches({"even": [4, 4]})
    assert "even: 0% padding, sentences of 4 words" in picture.alt
    grey = [x for x in ET.fromstring(picture.svg()).iter(f"{SVG}line") if x.get("stroke") == GREY]
    assert all(float(x.get("x1")) == float(x.get("x2")) for x in grey)

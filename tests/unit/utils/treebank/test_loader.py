"""Which treebank is loaded, from where, and what is learned from."""

from dataclasses import replace

import pytest

from tests.unit.utils.treebank.test_conllu import TREEBANKS, text_of
from utils import published
from utils.download import DownloadError, blob_id, is_blob
from utils.treebank import loader
from utils.treebank.conllu import ConlluError
from utils.treebank.loader import TreebankError, load_treebank, tags_of, words_of


def sentences(mark, count):
    """So many sentences that tell where they come from."""
    return [[(f"{mark}{number}", "NOUN|Gen"), (".", "PUNCT")] for number in range(count)]


def put(folder, code, **counts):
    """Write a treebank's files: put(folder, "cs_cac", train=5, test=2)."""
    folder.mkdir(parents=True, exist_ok=True)
    for split, count in counts.items():
        text = text_of(sentences(f"{code}-{split}-", count))
        (folder / f"{code}-ud-{split}.conllu").write_text(text, encoding="utf-8")


def marks(part):
    """Which files sentences come from, and how many from each."""
    found = [sentence[0][0].rsplit("-", 1)[0] for sentence in part]
    return {mark: found.count(mark) for mark in found}


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    """No data of the user's own, a cache of the test's own, and nobody who answers."""
    monkeypatch.delenv("COURSE_DATA", raising=False)
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "cache"))
    for name in ("CZECH", "ENGLISH"):
        nowhere = replace(getattr(published, name), address="http://127.0.0.1:9")
        monkeypatch.setattr(loader, name, nowhere)


@pytest.fixture
def publisher(monkeypatch, tmp_path):
    """The publisher's files, small, on this machine."""
    folder = tmp_path / "public"
    put(folder, "cs_cac", train=7, dev=3, test=2)
    put(folder, "en_ewt", train=5, dev=1, test=1)
    for name in ("CZECH", "ENGLISH"):
        there = getattr(published, name)
        files = {file: is_blob(blob_id(folder / file)) for file in there.files}
        here = replace(there, address=folder.as_uri(), files=files)
        monkeypatch.setattr(loader, name, here)
    return folder


@pytest.mark.usefixtures("publisher")
def test_czech_is_one_word_away():
    czech = load_treebank("Czech-CAC")
    assert czech.source == "UD_Czech-CAC (CC BY-SA 4.0)"
    assert marks(czech.train) == {"cs_cac-train": 7}


def test_the_treebank_is_fetched_and_then_read_from_the_cache(publisher, capsys):
    first = load_treebank()
    for path in publisher.iterdir():
        path.unlink()
    again = load_treebank("EWT")
    assert first == again
    assert marks(first.train) == {"en_ewt-train": 5}
    assert (len(first.dev), len(first.test), first.ceilings) == (1, 1, None)
    assert "train: 5 sentences, 10 words" in capsys.readouterr().out


def test_a_changed_file_at_the_publisher_is_not_used(publisher, capsys):
    path = publisher / "en_ewt-ud-test.conllu"
    path.write_bytes(path.read_bytes().replace(b"Gen", b"Dat"))
    assert load_treebank().name == "made-up language"
    assert "is not the one that the course expects" in capsys.readouterr().out


def test_without_a_network_the_made_up_language_comes_with_a_loud_line(capsys):
    treebank = load_treebank()
    assert treebank.ceilings.with_context == 1.0
    loud = capsys.readouterr().out.splitlines()[1]
    assert loud.startswith("!!! THIS IS MADE-UP DATA")
    assert "en_ewt-ud-train.conllu could not be fetched" in loud
    assert "COURSE_DATA" in loud


def test_a_treebank_asked_for_by_name_is_never_replaced_by_made_up_data():
    with pytest.raises(DownloadError):
        load_treebank("UD_Czech-CAC")
    with pytest.raises(TreebankError, match="only UD_English-EWT and UD_Czech-CAC are fetched"):
        load_treebank("UD_Czech-PDT")


def test_the_made_up_language_can_be_asked_for(monkeypatch):
    by_name = load_treebank("made-up")
    monkeypatch.setenv("COURSE_DATA", "made-up")
    assert load_treebank() == by_name
    assert by_name.source == "made-up language"
    assert {len(by_name.train), len(by_name.dev), len(by_name.test)} == set(loader.MADE_UP_SIZES)


def test_the_parts_of_the_made_up_treebank_share_no_more_than_chance():
    treebank = load_treebank("made-up")
    train = {tuple(sentence) for sentence in treebank.train}
    assert sum(tuple(sentence) in train for sentence in treebank.test) < len(treebank.test) / 20


def test_course_data_names_a_folder_with_the_files(tmp_path, monkeypatch):
    put(tmp_path / "UD_Xish-One", "xx_one", train=5, dev=2, test=3)
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "UD_Xish-One"))
    treebank = load_treebank()
    assert treebank.name == "UD_Xish-One"
    assert marks(treebank.train) == {"xx_one-train": 5}
    assert marks(treebank.dev) == {"xx_one-dev": 2}
    assert marks(treebank.test) == {"xx_one-test": 3}


@pytest.mark.parametrize("name", ["UD_Xish-Two", "Xish-Two", "two", "xx_two", "XX_TWO"])
def test_one_of_several_is_chosen_by_any_of_its_names(tmp_path, name):
    put(tmp_path / "UD_Xish-One", "xx_one", train=5, dev=2, test=3)
    put(tmp_path / "UD_Xish-Two", "xx_two", train=4, dev=1, test=1)
    assert load_treebank(name, tmp_path).name == "UD_Xish-Two"


def test_several_without_a_name_are_an_error_that_lists_them(tmp_path):
    put(tmp_path, "xx_one", train=5, test=3)
    put(tmp_path, "xx_two", train=4, test=1)
    for name in (None, "three"):
        with pytest.raises(TreebankError, match="name one of: xx_one, xx_two"):
            load_treebank(name, tmp_path)


def test_of_several_english_ewt_is_taken_if_none_is_named(tmp_path):
    put(tmp_path, "cs_cac", train=5, dev=2, test=3)
    put(tmp_path, "en_ewt", train=4, dev=1, test=1)
    assert load_treebank(folder=tmp_path).name == "en_ewt"


def test_a_name_that_fits_two_is_an_error(tmp_path):
    put(tmp_path / "UD_Xish-PUD", "xx_pud", train=5, test=3)
    put(tmp_path / "UD_Yish-PUD", "yy_pud", train=5, test=3)
    with pytest.raises(TreebankError, match="several treebanks called PUD"):
        load_treebank("PUD", tmp_path)


def test_without_a_dev_file_every_tenth_sentence_is_held_out(tmp_path):
    put(tmp_path, "xx_one", train=25, test=3)
    treebank = load_treebank(folder=tmp_path)
    assert [sentence[0][0] for sentence in treebank.dev] == ["xx_one-train-9", "xx_one-train-19"]
    assert len(treebank.train) == 23
    put(tmp_path, "xx_one", train=9)
    with pytest.raises(TreebankError, match="9 sentences are too few"):
        load_treebank(folder=tmp_path)


def test_without_a_train_file_the_language_is_pooled_and_its_test_file_is_not(tmp_path):
    put(tmp_path / "UD_Xish-CAC", "xx_cac", dev=6, test=3)
    put(tmp_path / "UD_Xish-Two", "xx_two", train=5, test=4)
    put(tmp_path / "UD_Yish-Two", "yy_two", train=7)
    treebank = load_treebank("CAC", tmp_path)
    assert treebank.name == "UD_Xish-CAC"
    assert marks(treebank.train) == {"xx_two-train": 5, "xx_two-test": 4, "xx_cac-dev": 4}
    assert marks(treebank.dev) == {"xx_cac-dev": 2}
    assert marks(treebank.test) == {"xx_cac-test": 3}


def test_a_treebank_with_a_test_file_alone_needs_others(tmp_path):
    put(tmp_path, "xx_pud", test=3)
    with pytest.raises(TreebankError, match="nothing to learn from"):
        load_treebank(folder=tmp_path)
    put(tmp_path, "xx_two", train=20)
    treebank = load_treebank("pud", tmp_path)
    assert marks(treebank.train) == {"xx_two-train": 18}
    assert marks(treebank.dev) == {"xx_two-train": 2}


def test_a_treebank_without_test_and_a_folder_without_treebanks_are_errors(tmp_path):
    with pytest.raises(TreebankError, match=r"no \*-ud-train.conllu"):
        load_treebank(folder=tmp_path)
    with pytest.raises(TreebankError, match="is no folder"):
        load_treebank(folder=tmp_path / "nowhere")
    put(tmp_path, "xx_one", train=25)
    with pytest.raises(TreebankError, match="no test file"):
        load_treebank(folder=tmp_path)


def test_a_broken_file_is_an_error_with_its_line_and_no_traceback_in_a_notebook(tmp_path):
    put(tmp_path, "xx_one", train=25, dev=2, test=3)
    path = tmp_path / "xx_one-ud-dev.conllu"
    path.write_text(path.read_text().replace("2\t.", "2\t", 1))
    with pytest.raises(ConlluError) as caught:
        load_treebank(folder=tmp_path)
    # IPython shows what this gives instead of a traceback.
    shown = caught.value._render_traceback_()
    assert shown == [f"ConlluError: {path}, line 3: word 2 has no form"]


def test_words_and_tags_come_apart():
    sentence = [("v", "ADP|Loc"), ("domě", "NOUN|Loc")]
    assert words_of([sentence, []]) == [["v", "domě"], []]
    assert tags_of([sentence, []]) == [["ADP|Loc", "NOUN|Loc"], []]


@pytest.mark.skipif(not TREEBANKS.is_dir(), reason="no treebanks in ../shared/data/ud")
def test_the_mirrored_treebanks_are_pooled_for_czech_cac():
    treebank = load_treebank("CAC", TREEBANKS)
    # 10,912 words of CAC's dev, 36,013 of CLTT, 18,609 of PUD, 6,289 of Poetry
    learned, held_out = (sum(map(len, part)) for part in (treebank.train, treebank.dev))
    assert learned + held_out == 10912 + 36013 + 18609 + 6289
    assert len(treebank.dev) == 603 // 3
    assert sum(map(len, treebank.test)) == 10862

"""What a word looks like, and the tagger that looks it up."""

import pytest
import torch
from torch import nn

from bench.lesson_code import solution
from utils.treebank.affixes import (
    Lexicon,
    WithAffixes,
    affix_tables,
    affix_vocabularies,
    affixes,
    shape,
)

build_vocab = solution()["build_vocab"]

TRAIN = [["Praha", "je", "krásná"], ["je", "Praha", "v", "klidu"]]


class Echo(nn.Module):
    """Gives back what it is asked."""

    def forward(self, ids, features, mask):
        return ids, features, mask


def tables(min_count=1):
    lexicon = build_vocab([*TRAIN, ["straha", "v", "Brně"]])
    vocab = build_vocab(TRAIN, min_count)
    kinds = affix_vocabularies(TRAIN, build_vocab, min_count=1)
    return lexicon, vocab, kinds, *affix_tables(lexicon, vocab, kinds)


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("Praha", ["ha", "aha", "raha", "pra", "Xx"]),
        ("že", ["že", "^že", "^že", "že", "x"]),
        ("v", ["^v", "^v", "^v", "v", "x"]),
        ("ČSSR-1968", ["68", "968", "1968", "čss", "X-9"]),
    ],
)
def test_affixes_are_the_last_letters_the_first_ones_and_the_shape(word, parts):
    assert affixes(word) == parts


@pytest.mark.parametrize(
    ("word", "wanted"), [("ahoj", "x"), ("USA", "X"), ("McDonald", "XxXx"), ("3,5", "9,9")]
)
def test_a_shape_names_each_run_of_letters_and_digits_once(word, wanted):
    assert shape(word) == wanted


def test_tables_say_which_word_and_affixes_of_training_a_lexicon_id_is():
    lexicon, vocab, kinds, word_ids, features = tables()
    for word in ("Praha", "je", "klidu"):
        assert word_ids[lexicon[word]] == vocab[word]
        wanted = [kind[part] for kind, part in zip(kinds, affixes(word), strict=True)]
        assert features[lexicon[word]].tolist() == wanted


def test_of_a_word_that_only_dev_or_test_has_known_affixes_are_used_and_nothing_else():
    lexicon, _, kinds, word_ids, features = tables()
    new = lexicon["straha"]
    assert word_ids[new] == 1
    assert features[new].tolist() == [kinds[0]["ha"], kinds[1]["aha"], kinds[2]["raha"], 1, 1 + 1]
    assert features[lexicon["Brně"]].tolist() == [1, 1, 1, 1, kinds[4]["Xx"]]
    assert all("str" not in kind for kind in kinds)


def test_rare_words_are_unknown_ones():
    lexicon, vocab, _, word_ids, _ = tables(min_count=2)
    assert set(vocab) == {"<pad>", "<unk>", "Praha", "je"}
    assert word_ids[lexicon["klidu"]] == 1
    kinds = affix_vocabularies(TRAIN, build_vocab, min_count=2)
    assert set(kinds[0]) == {"<pad>", "<unk>", "ha", "je"}  # Praha and je occur twice


def test_padding_and_unknown_words_stay_padding_and_unknown():
    *_, word_ids, features = tables()
    assert word_ids[:2].tolist() == [0, 1]
    assert features[0].tolist() == [0] * 5
    assert features[1].tolist() == [1] * 5


def test_a_tagger_with_affixes_takes_lexicon_ids_alone():
    lexicon, vocab, _, word_ids, features = tables()
    model = WithAffixes(Echo(), word_ids, features, word_dropout=0.9).eval()
    ids = torch.tensor([[lexicon["je"], lexicon["Praha"], 0], [lexicon["v"], 1, 0]])
    mask = torch.ones(1, 3, 3, dtype=torch.bool)
    words, found, passed = model(ids, mask)
    assert words.tolist() == [[vocab["je"], vocab["Praha"], 0], [vocab["v"], 1, 0]]
    assert torch.equal(found, features[ids])
    assert passed is mask
    assert model(ids)[2] is None


def test_word_dropout_hides_words_in_training_and_neither_affixes_nor_padding():
    torch.manual_seed(0)
    lexicon, vocab, _, word_ids, features = tables()
    model = WithAffixes(Echo(), word_ids, features, word_dropout=0.3)
    ids = torch.tensor([[lexicon["Praha"]] * 30 + [0] * 10] * 50)
    words, found, _ = model(ids)
    assert set(words[:, :30].unique().tolist()) == {1, vocab["Praha"]}
    assert (words[:, :30] == 1).float().mean().item() == pytest.approx(0.3, abs=0.05)
    assert not words[:, 30:].any()
    assert torch.equal(found, features[ids])


def test_the_tables_move_with_the_model_and_are_no_parameters():
    *_, word_ids, features = tables()
    model = WithAffixes(nn.Linear(2, 3), word_ids, features).to("meta")
    assert model.word_ids.device.type == model.features.device.type == "meta"
    assert {name for name, _ in model.named_parameters()} == {"tagger.weight", "tagger.bias"}
    assert set(model.state_dict()) == {"tagger.weight", "tagger.bias"}


def test_examples_are_a_word_with_an_id_of_its_own_and_one_without():
    lexicon = Lexicon.of([["u", "hrady"], ["tady"]], [["lesa", "psa"]], build_vocab, 1, 1)
    sentences = [[("u", "ADP|Gen"), ("hrady", "N|Acc")], [("lesa", "N|Gen"), ("?", "P")]]
    known, new = lexicon.examples(sentences)
    own, shared = lexicon.vocab["hrady"], lexicon.kinds[0]["dy"]
    assert known.startswith(
        f"hrady: {lexicon['hrady']} in the lexicon; word id {own}, features {{'dy': {shared},"
    )
    assert new.startswith(f"lesa: {lexicon['lesa']} in the lexicon; word id 1, features {{'sa': 1,")


def test_a_lexicon_numbers_all_words_and_knows_those_of_training_alone():
    lexicon = Lexicon.of(TRAIN, [["straha", "v", "Brně"]], build_vocab, 1, 1)
    expected, vocab, kinds, word_ids, features = tables()
    assert (lexicon, lexicon.vocab, lexicon.kinds) == (expected, vocab, kinds)
    assert torch.equal(lexicon.word_ids, word_ids)
    assert torch.equal(lexicon.features, features)
    assert lexicon.feature_sizes == [len(kind) for kind in kinds]


def test_in_a_lexicon_rare_words_and_rare_affixes_are_unknown():
    words = Lexicon.of(TRAIN, [], build_vocab, min_count=2, affix_min_count=1)
    assert set(words.vocab) == {"<pad>", "<unk>", "Praha", "je"}
    assert {"ha", "du"} < set(words.kinds[0])
    affixed = Lexicon.of(TRAIN, [], build_vocab, min_count=1, affix_min_count=2)
    assert "klidu" in affixed.vocab
    assert set(affixed.kinds[0]) == {"<pad>", "<unk>", "ha", "je"}


def test_a_lexicon_of_other_words_knows_of_them_what_the_first_one_would():
    lexicon = Lexicon.of(TRAIN, [["straha"]], build_vocab, 1, 1)
    own = lexicon.of_words(["straha", "je", "straha"])
    assert dict(own) == {"<pad>": 0, "<unk>": 1, "straha": 2, "je": 3}
    for word in ("straha", "je"):
        assert own.word_ids[own[word]] == lexicon.word_ids[lexicon[word]]
        assert torch.equal(own.features[own[word]], lexicon.features[lexicon[word]])


def test_a_tagger_within_a_lexicon_takes_numbers_alone():
    lexicon = Lexicon.of(TRAIN, [], build_vocab, 1, 1)
    ids = torch.tensor([[2, 0]])
    words, found, _ = lexicon.around(Echo(), word_dropout=0.9).eval()(ids)
    assert torch.equal(words, lexicon.word_ids[ids])
    assert torch.equal(found, lexicon.features[ids])

"""Tagging new sentences: right answers and common mistakes."""

from utils.checks.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.training import tagging_variants as variants
from utils.checks.lessons.training.probes import PROBES
from utils.checks.lessons.training.tagging_variants import tagger, tagging_oracle

TAGGING = Exercise(
    PROBES["tag_sentences"],
    tagging_oracle,
    (
        Mistake(
            "dropout_acts",
            "The model tags in train mode, so dropout acts.",
            "Switch it to eval mode before the first batch.",
            tagger(evaluates=False),
        ),
        Mistake(
            "only_the_first_batch_in_eval_mode",
            "Only the first batch is tagged in eval mode: a model that was training is put back "
            "into train mode before the next one.",
            "Is the mode restored after the first batch, or once at the end?",
            variants.given_back_too_early,
        ),
        Mistake(
            "left_in_eval_mode",
            "The model was training, but is left in eval mode.",
            "Remember model.training before eval(), and restore it at the end.",
            tagger(after=False),
        ),
        Mistake(
            "left_in_eval_mode_without_sentences",
            "Where there is no sentence, the model is left in eval mode.",
            "A `return` in the middle skips what comes after it. A loop over nothing needs none.",
            variants.left_early,
        ),
        Mistake(
            "left_in_train_mode",
            "The model was in eval mode, but is left in train mode.",
            "Restore the mode that it had: train(was_training).",
            tagger(after=True),
        ),
        Mistake(
            "parts_left_in_eval_mode",
            "The model is back in its old mode, but its parts are not: dropout stays off.",
            "An assignment to .training changes one module; train(...) changes all of its parts "
            "too.",
            variants.mode_of_the_whole_alone,
        ),
        Mistake(
            "gradients_recorded",
            "Gradients are recorded, which takes time and memory for nothing.",
            "Use torch.no_grad() or torch.inference_mode().",
            tagger(records=True),
        ),
        Mistake(
            "ids_left_on_the_cpu",
            "The ids stay where they were made: with a model on a GPU this fails.",
            "next(model.parameters()).device says where the model is; .to(device) moves the ids.",
            tagger(moves=False),
        ),
        Mistake(
            "lengths_for_features",
            "The model is given something after the ids, and reads it as features.",
            "The tagger's second argument is `features`: it finds padding by itself.",
            tagger(with_lengths=True),
        ),
        Mistake(
            "adds_to_the_vocabulary",
            "Words that are not in the vocabulary are added to it.",
            "setdefault writes into the dictionary; get(word, 1) only reads.",
            tagger(look_up=variants.added),
        ),
        Mistake(
            "new_words_numbered",
            "Words that are not in the vocabulary get new ids, for which the model has no vector.",
            "Such words have the id 1: a dictionary's get() takes a second argument, and writes "
            "nothing.",
            tagger(look_up=variants.numbered_anew),
        ),
        Mistake(
            "best_word_for_each_tag",
            "argmax runs over the words of the sentence, not over the tags.",
            "Which axis of (B, T, C) holds the tags?",
            tagger(axis=1),
        ),
        Mistake(
            "order_lost",
            "The sentences were sorted by length, and their tags are returned in that order.",
            "Remember where each sentence came from, or do not sort them.",
            tagger(order="by length"),
        ),
        Mistake(
            "order_lost_shortest_first",
            "The sentences were sorted by length, and their tags are returned in that order.",
            "Remember where each sentence came from, or do not sort them.",
            tagger(order="rising by length"),
        ),
        Mistake(
            "unknown_words_left_out",
            "A word that is not in the vocabulary is left out: the sentence gets too few tags, and "
            "later ones belong to other words.",
            "Such words have the id 1: a dictionary's get() takes a second argument.",
            tagger(drops_unknown=True),
        ),
        Mistake(
            "one_flat_list",
            "All tags come in one list, and where a sentence ends is lost.",
            "Append each sentence's list; `+=` and extend() unpack it.",
            tagger(flat=True),
        ),
        Mistake(
            "tags_of_padding",
            "Short sentences get tags for their padding too.",
            "Each sentence has as many tags as words.",
            tagger(trimmed=False),
        ),
        Mistake(
            "unknown_word_fails",
            "A word that is not in the vocabulary makes the function fail.",
            "Such words have the id 1: a dictionary's get() takes a second argument.",
            tagger(look_up=lambda vocab, word: vocab[word]),
        ),
        Mistake(
            "unknown_word_as_padding",
            "A word that is not in the vocabulary becomes padding, which no other word sees.",
            "0 is padding, 1 is unknown.",
            tagger(look_up=lambda vocab, word: vocab.get(word, 0)),
        ),
        Mistake(
            "words_in_lower_case",
            "Words are looked up in lower case, so those with capitals become other words.",
            "The vocabulary holds words as they are written.",
            tagger(look_up=lambda vocab, word: vocab.get(word.lower(), 1)),
        ),
        Mistake(
            "unknown_words_in_lower_case",
            "Words that the vocabulary lacks are looked up in lower case.",
            "A word that the vocabulary lacks as it is spelled is unknown.",
            tagger(look_up=lambda vocab, word: vocab.get(word, vocab.get(word.lower(), 1))),
        ),
        Mistake(
            "padded_with_unknown",
            "The sentences are padded with 1, so the model reads unknown words there.",
            "0 is padding, 1 is unknown.",
            tagger(padding=1),
        ),
        Mistake(
            "last_batch_lost",
            "The last sentences are missing where they do not fill a batch.",
            "The last batch may be smaller.",
            tagger(end=lambda n, step: n // step * step),
        ),
        Mistake(
            "last_batch_lost_but_an_only_one",
            "The last sentences are missing where they do not fill a batch, if there is one before "
            "them.",
            "The last batch may be smaller: // leaves it out.",
            tagger(end=lambda n, step: n // step * step or n),
        ),
        Mistake(
            "all_at_once",
            "All sentences go into one batch, whatever batch_size says.",
            "Take batch_size of them at a time.",
            variants.at_once,
        ),
        Mistake(
            "one_sentence_too_many",
            "A batch has one sentence more than batch_size.",
            "Is the batch closed before the sentence that does not fit, or after it?",
            tagger(size=lambda batch_size, n: batch_size + 1),
        ),
        Mistake(
            "sentences_read_again",
            "Sentences are read more than once: each batch begins before the last one ends.",
            "range takes a step, too: range(start, end, step).",
            variants.read_again,
        ),
        Mistake(
            "equal_sentences_once",
            "A sentence that is repeated is left out: each is tagged once, however often it comes.",
            "A dictionary or a set holds equal sentences once. A list keeps all of them.",
            variants.each_once,
        ),
        Mistake(
            "one_at_a_time",
            "Each sentence is a batch of its own: right, but many times slower.",
            "Take batch_size of them at a time.",
            tagger(size=lambda batch_size, n: 1),
        ),
        Mistake(
            "empty_sentences_lost",
            "Empty sentences are left out, so later ones move up.",
            "There is one list for each sentence; for an empty one it is empty.",
            tagger(drops_empty=True),
        ),
        Mistake(
            "no_sentence_fails",
            "An empty list of sentences makes the function fail.",
            "max() has nothing to choose from there.",
            variants.fails_without_sentences,
        ),
        Mistake(
            "numbers_returned",
            "The numbers of the tags are returned, not their names.",
            "`tags` is the list of names.",
            tagger(named=False),
        ),
        Mistake(
            "names_sorted",
            "The names of the tags are sorted, so their places are no longer their ids.",
            "`tags` is in the order of the ids already.",
            tagger(names=sorted),
        ),
        Mistake(
            "padding_in_front",
            "The padding comes before the words, so a sentence does not begin at position 0.",
            "Pad at the end.",
            tagger(in_front=True),
        ),
    ),
)

EXERCISES = by_id(TAGGING)

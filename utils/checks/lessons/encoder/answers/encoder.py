"""The whole encoder: right answers and common mistakes."""

from utils.checks.authoring.common_mistakes import keep_module, no_forward, no_set_up
from utils.checks.framework.exercise import Exercise, Mistake, by_id
from utils.checks.lessons.encoder.part_variants import variant
from utils.checks.lessons.encoder.probes import PROBES
from utils.checks.lessons.encoder.reference import TorchStack
from utils.checks.lessons.encoder.variants import PASSED, EncoderVariant


def _without(*options: str) -> tuple[str, ...]:
    return tuple(option for option in PASSED if option not in options)


EXERCISES = by_id(
    Exercise(
        PROBES["TransformerEncoder"],
        TorchStack,
        (
            no_forward("TransformerEncoder", EncoderVariant),
            no_set_up("TransformerEncoder", keep_module),
            Mistake(
                "mean_over_positions",
                "forward gives the mean over positions: one vector for a sentence.",
                "(B, T) -> (B, T, D): every token keeps its own vector.",
                variant(EncoderVariant, pooled="mean"),
            ),
            Mistake(
                "first_position_alone",
                "forward gives the vector of the first position alone.",
                "(B, T) -> (B, T, D): every token keeps its own vector.",
                variant(EncoderVariant, pooled="first"),
            ),
            Mistake(
                "layers_run_backwards",
                "The layers run from the last to the first.",
                "layers[0] reads what embed gives.",
                variant(EncoderVariant, loop="backwards"),
            ),
            Mistake(
                "positions_before_every_layer",
                "The positions are added again to what each further layer reads.",
                "They are added once, in embed; the residuals carry them on.",
                variant(EncoderVariant, loop="placed"),
            ),
            *(
                Mistake(
                    f"{which}_layer_skipped",
                    f"The {which} layer is not run.",
                    "Go over self.layers as it is: which index or slice is too many?",
                    variant(EncoderVariant, run=run),
                )
                for which, run in (("first", slice(1, None)), ("last", slice(-1)))
            ),
            Mistake(
                "mean_of_all_layers",
                "The mean of what all layers give comes back.",
                "Each layer reads what the one before gives, and the last one's result counts.",
                variant(EncoderVariant, averaged=True),
            ),
            Mistake(
                "words_before_every_layer",
                "The embedded sentence is added again to what each further layer reads.",
                "The residuals inside the layers carry it on.",
                variant(EncoderVariant, loop="words"),
            ),
            Mistake(
                "layers_added_once_more",
                "Each layer's input is added to its output once more.",
                "The residuals are inside the layer: it has added its input already.",
                variant(EncoderVariant, loop="added"),
            ),
            Mistake(
                "mask_not_handed_to_layers",
                "No mask reaches the layers, neither a given one nor that of the padding.",
                "A layer's second argument is the mask.",
                variant(EncoderVariant, masked="none"),
            ),
            Mistake(
                "mask_of_the_first_call",
                "The padding mask of an earlier call is used again for other sentences.",
                "Each batch has a mask of its own: keep nothing from a call in self.",
                variant(EncoderVariant, remembers=True),
            ),
            Mistake(
                "heads_and_hidden_units_exchanged",
                "n_heads and d_ff are swapped on their way to the layers: d_ff is used as the "
                "number of heads.",
                "Compare your call with the first line of EncoderLayer's __init__.",
                variant(EncoderVariant, exchanged=True),
            ),
            Mistake(
                "words_added_twice",
                "embed adds the words twice: PositionalEncoding has added its positions to them "
                "already.",
                "What self.positions gives is the sum of words and positions.",
                variant(EncoderVariant, words_twice=True),
            ),
            Mistake(
                "dropped_out_twice",
                "embed applies dropout again to what self.positions returns.",
                "self.positions has its own dropout: call it last.",
                variant(EncoderVariant, drops_again=True),
            ),
            Mistake(
                "words_dropped_out_too",
                "Dropout acts twice in embed: on the sum of words and positions, and once more, on "
                "the words or on that sum.",
                "self.positions drops out the sum: that is all the dropout that embed needs.",
                variant(EncoderVariant, drops_words=True),
            ),
            Mistake(
                "not_scaled",
                "The words are not multiplied by sqrt(D).",
                "TokenEmbedding does it, nn.Embedding does not.",
                variant(EncoderVariant, scaled=0),
            ),
            Mistake(
                "pre_norm_by_default",
                "Where norm_first is not given, the encoder is pre-norm.",
                "Look at the defaults in the first line of __init__.",
                variant(EncoderVariant, other_order=True),
            ),
            Mistake(
                "no_dropout_by_default",
                "Where dropout is not given, the rate is not 0.1.",
                "Look at the defaults in the first line of __init__.",
                variant(EncoderVariant, other_dropout=0.0),
            ),
            *(
                Mistake(
                    f"dropped_out_{where}",
                    f"Dropout acts again, {says}.",
                    "The positions and the layers have dropout of their own: that is enough.",
                    variant(EncoderVariant, drops_state=kind),
                )
                for where, says, kind in (
                    ("at_the_end", "on what encode returns", "last"),
                    ("between_layers", "on what one layer passes to the next", "between"),
                )
            ),
            *(
                Mistake(
                    name,
                    f"{says}: padding before a word is not found, or words after it are lost.",
                    "Padding is recognised by its id, wherever it is: compare each id with "
                    "padding_idx.",
                    variant(EncoderVariant, real=kind),
                )
                for name, says, kind in (
                    (
                        "padding_by_length",
                        "The mask comes from the number of words in a sentence",
                        "number",
                    ),
                    (
                        "padding_from_the_first_on",
                        "Everything from the first padding id on is masked",
                        "first",
                    ),
                )
            ),
            Mistake(
                "mask_of_an_earlier_call",
                "A call of encode without a mask gets the mask of an earlier call.",
                "mask=None means that every token may attend to every token: keep nothing from a "
                "call in self.",
                variant(EncoderVariant, masked_before=True),
            ),
            Mistake(
                "one_layer_too_many",
                "There is one layer more than n_layers.",
                "Count how often a layer is made.",
                variant(EncoderVariant, stack="too many"),
            ),
            Mistake(
                "norm_after_each_layer",
                "final_norm is called after every layer, not only after the last.",
                "It comes after all layers, once: where is it called?",
                variant(EncoderVariant, final="each"),
            ),
            Mistake(
                "norm_in_the_wrong_order",
                "There is a final norm without norm_first, and none with it.",
                "Look at your condition: pre-norm needs one more norm, post-norm does not.",
                variant(EncoderVariant, final="post"),
            ),
            Mistake(
                "one_layer_repeated",
                "self.layers holds one layer object several times, so all layers share weights.",
                "[layer] * n copies the reference, not the layer: make a new one each time.",
                variant(EncoderVariant, stack="repeated"),
            ),
            Mistake(
                "plain_list",
                "The layers are in a plain list: no optimiser and no .to(device) finds them.",
                "nn.ModuleList registers what it holds.",
                variant(EncoderVariant, stack="list"),
            ),
            Mistake(
                "one_layer_too_few",
                "There is one layer fewer than n_layers.",
                "Count how often a layer is made.",
                variant(EncoderVariant, stack="too few"),
            ),
            Mistake(
                "each_layer_reads_the_input",
                "Only the last layer counts: every layer gets the embedded input, or those before "
                "it are left out.",
                "Each layer has its turn, and what it returns is what the next one reads.",
                variant(EncoderVariant, loop="input"),
            ),
            Mistake(
                "layers_called_for_nothing",
                "What the layers return is not used: encode returns its input.",
                "A layer changes nothing in place; it returns a new tensor.",
                variant(EncoderVariant, loop="dropped"),
            ),
            Mistake(
                "only_the_first_layer_is_masked",
                "The mask goes to the first layer only.",
                "Padding is there in every layer.",
                variant(EncoderVariant, masked="first"),
            ),
            Mistake(
                "no_final_norm",
                "With norm_first nothing normalises the last layer's output.",
                "final_norm is a LayerNorm where norm_first is set.",
                variant(EncoderVariant, final="never"),
            ),
            Mistake(
                "final_norm_in_post_norm",
                "Without norm_first the output is normalised twice.",
                "final_norm is nn.Identity() where norm_first is not set.",
                variant(EncoderVariant, final="always"),
            ),
            Mistake(
                "final_norm_not_used",
                "final_norm is made but never called.",
                "encode ends with it.",
                variant(EncoderVariant, final="unused"),
            ),
            Mistake(
                "final_norm_in_forward",
                "final_norm is called in forward: a caller who uses encode alone does not get it.",
                "encode ends with it.",
                variant(EncoderVariant, final="forward"),
            ),
            Mistake(
                "padding_not_masked",
                "Without a mask, words attend to padding: a sentence gives other vectors when the "
                "batch is padded further.",
                "Compare the ids with padding_idx, and give the mask an axis for the queries.",
                variant(EncoderVariant, default_mask="none"),
            ),
            Mistake(
                "padding_only_set_to_zero",
                "Padding is set to zero in what the layers read, but words still attend to it.",
                "Attention gives a key of zeros its share too: only a mask keeps it out.",
                variant(EncoderVariant, default_mask="zeroed"),
            ),
            Mistake(
                "padding_mask_inverted",
                "The mask made from the ids lets words attend to padding alone.",
                "True means “may be attended to”.",
                variant(EncoderVariant, default_mask="inverted"),
            ),
            Mistake(
                "padding_idx_not_used",
                "The mask treats 0 as padding, whatever padding_idx says.",
                "Keep padding_idx in __init__ and compare with it.",
                variant(EncoderVariant, default_mask="zero"),
            ),
            Mistake(
                "causal_mask_by_default",
                "Without a mask, words do not see the words after them: a causal mask is combined "
                "with the padding mask.",
                "An encoder reads whole sentences: a word may attend to all words, before and "
                "after it.",
                variant(EncoderVariant, default_mask="causal"),
            ),
            Mistake(
                "mask_of_the_first_sentence",
                "The padding of the batch's first sentence is masked in all of its sentences.",
                "Each sentence has its own padding: is the batch's axis still there in your mask?",
                variant(EncoderVariant, default_mask="first"),
            ),
            Mistake(
                "words_below_padding_masked",
                "Ids below padding_idx are masked as well.",
                "An id is padding if it is padding_idx, and a word if it is any other number.",
                variant(EncoderVariant, default_mask="greater"),
            ),
            Mistake(
                "padding_blocked_as_query",
                "The mask has its last axis for the queries: words still attend to padding.",
                "(B, 1, T): the last axis counts the keys, the one before it the queries.",
                variant(EncoderVariant, default_mask="queries"),
            ),
            Mistake(
                "mask_without_an_axis_for_queries",
                "The mask made from the ids is (B, T): it has no axis for the queries.",
                "(B, 1, T) fits every query. Where is an axis of size one missing?",
                variant(EncoderVariant, default_mask="flat"),
            ),
            Mistake(
                "mask_with_an_axis_too_many",
                "The mask made from the ids is (B, 1, 1, T): it has an axis for the heads, which "
                "attention adds itself.",
                "(B, 1, T) is what the layers take.",
                variant(EncoderVariant, default_mask="deep"),
            ),
            *(
                Mistake(
                    f"mask_of_{numbers}",
                    "The mask made from the ids has been turned into numbers.",
                    "A comparison gives a boolean mask, and that is what the layers take.",
                    variant(EncoderVariant, default_mask=kind),
                )
                for numbers, kind in (("floats", "float"), ("integers", "long"))
            ),
            Mistake(
                "given_mask_ignored",
                "A mask that the caller gives is not used.",
                "Make one from the ids only where mask is None.",
                variant(EncoderVariant, given_mask="ignored"),
            ),
            Mistake(
                "given_mask_joined",
                "A mask that the caller gives is combined with the padding mask.",
                "Use a given mask as it is. Make one from the ids only where mask is None.",
                variant(EncoderVariant, given_mask="joined"),
            ),
            Mistake(
                "norm_first_not_handed_on",
                "norm_first does not reach the layers.",
                "Every layer needs it, not only final_norm.",
                variant(EncoderVariant, passes=_without("norm_first")),
            ),
            Mistake(
                "dropout_not_handed_on",
                "dropout does not reach the parts.",
                "The positions and every layer take it.",
                variant(EncoderVariant, passes=_without("positions", "layers")),
            ),
            Mistake(
                "dropout_not_handed_to_layers",
                "dropout does not reach the layers, which take their own default.",
                "The positions and every layer take it.",
                variant(EncoderVariant, passes=_without("layers")),
            ),
            Mistake(
                "dropout_not_handed_to_positions",
                "dropout does not reach the positions.",
                "The positions and every layer take it.",
                variant(EncoderVariant, passes=_without("positions")),
            ),
            Mistake(
                "max_len_not_handed_on",
                "max_len does not reach the positions.",
                "PositionalEncoding takes it.",
                variant(EncoderVariant, passes=_without("max_len")),
            ),
            Mistake(
                "long_sentence_cut",
                "A sentence longer than max_len is cut silently.",
                "The positions raise ValueError for such a sentence: let them see it as it is.",
                variant(EncoderVariant, cuts=True),
            ),
            Mistake(
                "padding_idx_not_handed_on",
                "TokenEmbedding was made without padding_idx: it treats 0 as padding.",
                "TokenEmbedding takes padding_idx.",
                variant(EncoderVariant, passes=_without("padding_idx")),
            ),
            Mistake(
                "scaled_twice",
                "The embedding is multiplied by sqrt(D) a second time.",
                "TokenEmbedding does it already.",
                variant(EncoderVariant, scaled=2),
            ),
            Mistake(
                "without_positions",
                "embed returns the words without their positions.",
                "self.positions adds them.",
                variant(EncoderVariant, without_positions=True),
            ),
        ),
    ),
)

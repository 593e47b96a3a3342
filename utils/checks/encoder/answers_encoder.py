"""The whole encoder, and the stack of one repeated layer: what is right and commonly wrong."""

import copy
from collections.abc import Callable
from typing import Any

from torch import nn

from utils.checks.encoder.probes import PROBES
from utils.checks.encoder.reference import TorchStack
from utils.checks.encoder.variants import PASSED, EncoderVariant, variant
from utils.checks.exercise import Exercise, Mistake
from utils.checks.module_mistakes import no_forward

_PROBES = {probe.exercise: probe for probe in PROBES}


def _encoder(name: str, says: str, hint: str, **choices: Any) -> Mistake:
    return Mistake(name, says, hint, variant(EncoderVariant, **choices))


def _without(*options: str) -> tuple[str, ...]:
    return tuple(option for option in PASSED if option not in options)


def stack_oracle(make_layer: Callable[[], nn.Module], n_layers: int) -> nn.ModuleList:
    """So many layers, each made anew."""
    stack = nn.ModuleList()
    while len(stack) < n_layers:
        stack.append(make_layer())
    return stack


def _shallow_copies(make_layer: Callable[[], nn.Module], n_layers: int) -> nn.ModuleList:
    layer = make_layer()
    return nn.ModuleList([copy.copy(layer) for _ in range(n_layers)])


ENCODER = (
    Exercise(
        _PROBES["TransformerEncoder"],
        TorchStack,
        (
            no_forward("TransformerEncoder", EncoderVariant),
            _encoder(
                "one_layer_repeated",
                "self.layers holds one layer object several times, so all layers share weights.",
                "[layer] * n copies the reference, not the layer: make a new one each time.",
                stack="repeated",
            ),
            _encoder(
                "plain_list",
                "The layers are in a plain list: no optimiser and no .to(device) finds them.",
                "nn.ModuleList registers what it holds.",
                stack="list",
            ),
            _encoder(
                "one_layer_too_few",
                "There is one layer less than n_layers.",
                "Count what range gives.",
                stack="too few",
            ),
            _encoder(
                "each_layer_reads_the_input",
                "Every layer gets the embedded input, so only the last layer counts.",
                "What one layer returns is what the next one reads.",
                loop="input",
            ),
            _encoder(
                "layers_called_for_nothing",
                "What the layers return is not used: encode gives its input back.",
                "A layer changes nothing in place; it returns a new tensor.",
                loop="dropped",
            ),
            _encoder(
                "only_the_first_layer_is_masked",
                "The mask goes to the first layer only.",
                "Padding is there in every layer.",
                loop="masks first",
            ),
            _encoder(
                "no_final_norm",
                "With norm_first nothing normalises the last layer's output.",
                "final_norm is a LayerNorm where norm_first is set.",
                final="never",
            ),
            _encoder(
                "final_norm_in_post_norm",
                "Without norm_first the output is normalised twice.",
                "final_norm is nn.Identity() where norm_first is not set.",
                final="always",
            ),
            _encoder(
                "final_norm_not_used",
                "final_norm is made, and never called.",
                "encode ends with it.",
                final="unused",
            ),
            _encoder(
                "final_norm_in_forward",
                "final_norm is called in forward: who calls encode alone goes without it.",
                "encode ends with it.",
                final="forward",
            ),
            _encoder(
                "padding_not_masked",
                "Without a mask, words attend to padding: a sentence changes in longer company.",
                "Compare the ids with padding_idx, and give the mask an axis for the queries.",
                default_mask="none",
            ),
            _encoder(
                "padding_mask_inverted",
                "The mask made from the ids lets words attend to padding alone.",
                "True means “may be attended to”.",
                default_mask="inverted",
            ),
            _encoder(
                "padding_idx_not_used",
                "The mask takes 0 for padding, whatever padding_idx says.",
                "Keep padding_idx in __init__ and compare with it.",
                default_mask="zero",
            ),
            _encoder(
                "padding_blocked_as_query",
                "The mask has its last axis for the queries: words still attend to padding.",
                "(B, 1, T): the last axis counts the keys, the one before it the queries.",
                default_mask="queries",
            ),
            _encoder(
                "mask_without_an_axis_for_queries",
                "The mask made from the ids is (B, T): it has no axis for the queries.",
                "(B, 1, T) fits every query. Where is an axis of size one missing?",
                default_mask="flat",
            ),
            *(
                _encoder(
                    f"mask_of_{numbers}",
                    "The mask made from the ids has been turned into numbers.",
                    "A comparison gives a boolean mask, and that is what the layers take.",
                    default_mask=kind,
                )
                for numbers, kind in (("floats", "float"), ("integers", "long"))
            ),
            _encoder(
                "given_mask_ignored",
                "A mask that the caller gives is not used.",
                "Only where mask is None is one made from the ids.",
                given_mask="ignored",
            ),
            _encoder(
                "given_mask_joined",
                "A mask that the caller gives is joined with that of the padding.",
                "A given mask is used as it is: only where mask is None is one made from the ids.",
                given_mask="joined",
            ),
            _encoder(
                "norm_first_not_handed_on",
                "norm_first does not reach the layers.",
                "Every layer needs it, not only final_norm.",
                passes=_without("norm_first"),
            ),
            _encoder(
                "dropout_not_handed_on",
                "dropout does not reach the parts.",
                "The positions and every layer take it.",
                passes=_without("positions", "layers"),
            ),
            _encoder(
                "dropout_not_handed_to_layers",
                "dropout does not reach the layers, which take their own default.",
                "The positions and every layer take it.",
                passes=_without("layers"),
            ),
            _encoder(
                "dropout_not_handed_to_positions",
                "dropout does not reach the positions.",
                "The positions and every layer take it.",
                passes=_without("positions"),
            ),
            _encoder(
                "max_len_not_handed_on",
                "max_len does not reach the positions.",
                "PositionalEncoding takes it.",
                passes=_without("max_len"),
            ),
            _encoder(
                "padding_idx_not_handed_on",
                "TokenEmbedding was made without padding_idx: it takes 0 for padding.",
                "TokenEmbedding takes padding_idx.",
                passes=_without("padding_idx"),
            ),
            _encoder(
                "scaled_twice",
                "The embedding is multiplied by sqrt(D) once more.",
                "TokenEmbedding does it already.",
                scaled_again=True,
            ),
            _encoder(
                "without_positions",
                "embed returns the words without their positions.",
                "self.positions adds them.",
                without_positions=True,
            ),
        ),
    ),
    Exercise(
        _PROBES["repaired_stack"],
        stack_oracle,
        (
            Mistake(
                "still_one_layer",
                "The list still holds one layer several times.",
                "How often is make_layer called?",
                lambda make, n: nn.ModuleList([make()] * n),
            ),
            Mistake(
                "shallow_copies",
                "The layers are different objects that share their weights.",
                "copy.copy copies the shell of a module. Make new ones.",
                _shallow_copies,
            ),
            Mistake(
                "one_layer_too_many",
                "There is one layer too many.",
                "Does the first one count?",
                lambda make, n: stack_oracle(make, n + 1),
            ),
            Mistake(
                "plain_list",
                "A plain list came back: a module that holds it does not know its layers.",
                "nn.ModuleList was right; keep it.",
                lambda make, n: list(stack_oracle(make, n)),
            ),
        ),
    ),
)

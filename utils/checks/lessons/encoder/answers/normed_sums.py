"""Mistakes of a layer in its sums: a norm on the wrong side, another term, another size."""

from typing import Any

from utils.checks.framework.exercise import Mistake
from utils.checks.lessons.encoder.part_variants import variant
from utils.checks.lessons.encoder.variants import LayerVariant


class _Sandwich(LayerVariant):
    """A layer that in pre-norm normalises what a sub-layer gives, too, before the sum."""

    def _dropped(self, x: Any, which: str) -> Any:
        found = super()._dropped(x, which)
        return self._norms()[which](found) if self._order() == "pre" else found


NORMED_SUMS = (
    Mistake(
        "result_normalised_too_in_pre_norm",
        "In pre-norm what a sub-layer gives is normalised too, before the sum.",
        "With norm_first a norm acts on what goes into a sub-layer, and on nothing else.",
        _Sandwich,
    ),
    Mistake(
        "sums_halved",
        "The sums are halved: x and what a sub-layer gives are averaged.",
        "A residual is a sum. In post-norm the norm undoes a half, and in pre-norm nothing does.",
        variant(LayerVariant, shrunk=0.5),
    ),
    *(
        Mistake(
            f"{part}_normalised_before_the_sum",
            f"In post-norm {norm} acts on what {part} gives, before the sum.",
            "Compare your two lines of post-norm: the norm goes around the sum.",
            variant(LayerVariant, inside=part[0]),
        )
        for part, norm in (("attention", "norm_1"), ("feed_forward", "norm_2"))
    ),
    Mistake(
        "layers_input_added_in_post_norm",
        "In post-norm the feed-forward's result is added to the layer's input, not to its own.",
        "The second sum has the result of the first line in it: norm_1 has acted on that.",
        variant(LayerVariant, residual_from="first", astray="f", astray_in=("post",)),
    ),
    Mistake(
        "sums_divided_by_the_root_of_two",
        "The sums are divided by the root of two.",
        "Some models keep the size of a sum like this. Here the norm does it, and pre-norm leaves "
        "sums as they are.",
        variant(LayerVariant, shrunk=2**-0.5),
    ),
    *(
        Mistake(
            f"{name}_normalised_in_pre_norm",
            f"In pre-norm {which} normalised too, as in post-norm.",
            "With norm_first a norm acts on what goes into a sub-layer, and on nothing else.",
            variant(LayerVariant, sums_normed=parts),
        )
        for name, which, parts in (
            ("every_sum", "the sums are", "af"),
            ("first_sum", "the first sum is", "a"),
        )
    ),
)

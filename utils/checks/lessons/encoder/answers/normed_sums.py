"""Mistakes of a layer in which a norm stands on the wrong side of a sum, or on both."""

from utils.checks.framework.exercise import Mistake
from utils.checks.lessons.encoder.part_variants import variant
from utils.checks.lessons.encoder.variants import LayerVariant

NORMED_SUMS = (
    *(
        Mistake(
            f"{part}_normalised_before_the_sum",
            f"In post-norm {norm} acts on what {part} gives, before the sum.",
            "Compare your two lines of post-norm: the norm goes around the sum.",
            variant(LayerVariant, inside=part[0]),
        )
        for part, norm in (("attention", "norm_1"), ("feed_forward", "norm_2"))
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

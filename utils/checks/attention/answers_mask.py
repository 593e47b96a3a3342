"""The mistakes that a mask invites: how the weights are made, name, sentence, hint."""

from typing import Any

Table = tuple[tuple[dict[str, Any], str, str, str], ...]

MASK_MISTAKES: Table = (
    (
        {"masking": "ignored"},
        "mask_ignored",
        "The mask changes nothing: keys under it still get weight.",
        "masked_fill returns a new tensor and leaves the old one as it was. Is its result used?",
    ),
    (
        {"masking": "inverted"},
        "mask_inverted",
        "The mask is upside down: it keeps what it should block.",
        "In this course True means “may be attended to”. masked_fill fills where its mask is True.",
    ),
    (
        {"masking": "after"},
        "mask_after_softmax",
        "The mask acts only after softmax, so rows sum to less than one.",
        "Blocked keys must not take part in the normalisation: block the scores, then softmax. If "
        "you do fill the scores: masked_fill returns a new tensor. Is its result used?",
    ),
    (
        {"masking": "zero"},
        "filled_with_zero",
        "Blocked scores are set to zero, and exp(0) is one: they still get weight.",
        "Which score turns into a weight of zero under exp?",
    ),
    (
        {"masking": "added"},
        "mask_added",
        "The mask is added to the scores as a number, so allowed keys only gain one.",
        "A boolean mask chooses; it is not a term of a sum. Look at masked_fill.",
    ),
    (
        {"fill": -1.0},
        "fill_too_weak",
        "Blocked keys get the score -1, which is an ordinary score: weight leaks to them.",
        "The fill has to be below every score that can occur.",
    ),
    (
        {"fill": -100.0},
        "fill_leaks_at_large_scores",
        "The fill is a score that can occur: it is enough for small scores only, and where they "
        "are large, weight leaks.",
        "The fill has to be below every score that can occur, whatever their scale.",
    ),
    (
        {"masking": "nan"},
        "empty_row_is_nan",
        "A row with nothing allowed becomes NaN: softmax divides zero by zero there.",
        "After softmax, set the weights of blocked keys to zero; that also removes the NaN.",
    ),
    (
        {"masking": "uniform"},
        "empty_row_is_uniform",
        "A row with nothing allowed attends to all keys alike, padding included.",
        "With every score equal, softmax is uniform. Set the weights of blocked keys to zero.",
    ),
    (
        {"masking": "infinity added"},
        "empty_row_of_added_infinity",
        "A row with nothing allowed becomes NaN: zero is divided by zero there.",
        "Fill the blocked scores before softmax, and set their weights to zero after it: filling "
        "keeps the NaN out of the gradient, zeroing out of the result.",
    ),
    (
        {"masking": "infinity added, then zeroed"},
        "empty_row_has_a_gradient_of_nan",
        "The result is right, but in a row with nothing allowed the gradient is NaN: a single such "
        "row would spoil a whole training.",
        "Taking the NaN out afterwards hides it from the result only. The softmax of minus "
        "infinity alone is NaN; filling the scores cuts the way from it back to them, adding minus "
        "infinity does not.",
    ),
    (
        {"masking": "lowered"},
        "empty_row_lowered_alike",
        "In a row with nothing allowed every score is lowered alike, so that blocked keys share "
        "the weight as if nothing had happened.",
        "Softmax sees differences only. Set the weights of blocked keys to zero after it.",
    ),
    (
        {"masking": "zero times infinity"},
        "zero_times_infinity",
        "Zero times infinity is NaN: that is what allowed keys get.",
        "Choose the scores of blocked keys, do not calculate them: look at masked_fill.",
    ),
    (
        {"masking": "zero times infinity, then zeroed"},
        "zero_times_infinity_zeroed",
        "Zero times infinity is NaN: that is what allowed keys get.",
        "Choose the scores of blocked keys, do not calculate them: look at masked_fill.",
    ),
)

_LEAVES_SOME = (
    "The fill is a score that can occur: blocked keys keep some weight, very little where "
    "scores are small, and nearly all of it where the allowed ones lie below the fill.",
    "The fill has to be below every score that can occur, whatever their scale.",
)
_TAKES_AWAY = (
    "The fill is a score that can occur: where the allowed ones lie below it, blocked keys "
    "take their weight, and setting that to zero does not give it back.",
    "The fill has to be below every score that can occur, whatever their scale.",
)
# Lowered or divided by the sum afterwards: where scores are large, the two give the same.
_STILL_WINS = (
    "A large score under the mask still wins the softmax and leaves the allowed keys nothing. "
    "What is done to the weights afterwards does not bring it back.",
    "The score of a blocked key must not matter, however large: block it before softmax.",
)

# What only large scores bring to light.
LARGE_SCORES: Table = (
    ({"masking": "nan", "fill": -100.0}, "fill_leaves_some_weight", *_LEAVES_SOME),
    ({"masking": "zeroed", "fill": -100.0}, "fill_takes_weight_away", *_TAKES_AWAY),
    (
        {"masking": "lowered too little"},
        "lowered_too_little",
        "Scores under the mask are lowered by too little: blocked keys keep some weight, and "
        "where their scores are large, most of it.",
        "What their scores were must not matter, however large: fill them, or lower them by more "
        "than scores can differ.",
    ),
    (
        {"masking": "lowered too little, then zeroed"},
        "blocked_key_still_wins",
        *_STILL_WINS,
    ),
    (
        {"masking": "renormalised"},
        "divided_by_what_is_left",
        "The mask acts after softmax, and rows are divided by what is left: by zero, where "
        "softmax has left the allowed keys nothing, or where nothing is allowed.",
        "Block the scores first: then softmax itself divides by the right sum.",
    ),
)

# What looks like one of these in few rows, and says the same.
MANY_QUERIES: Table = (
    ({"masking": "zeroed", "fill": -20.0}, "small_fill_takes_weight_away", *_TAKES_AWAY),
    ({"masking": "zeroed", "fill": -1000.0}, "large_fill_takes_weight_away", *_TAKES_AWAY),
    ({"masking": "nan", "fill": -1000.0}, "large_fill_leaves_some_weight", *_LEAVES_SOME),
    ({"masking": "renormalised safely"}, "nothing_left_to_divide", *_STILL_WINS),
)

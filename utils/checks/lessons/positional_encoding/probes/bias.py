"""The probe of ALiBi's bias on scores."""

from utils.checks.exercise import Probe, by_exercise, case

PROBES = by_exercise(
    Probe(
        "alibi_bias",
        lambda H, T: {"n_heads": H, "length": T},  # noqa: N803 (axes, as everywhere)
        lambda answer, i: {"bias": answer(i["n_heads"], i["length"])},
        (
            case("four heads", required=True, H=4, T=5),
            case("eight heads", H=8, T=3),
            case("one head", H=1, T=6),
            case("one word", H=2, T=1),
            case("as many words as heads, and more", H=3, T=7),
        ),
        gradient=False,
    ),
)

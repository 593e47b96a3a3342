"""Probe of the student's own test that padding changes nothing."""

from utils.checks.authoring.trying_tests import try_test
from utils.checks.exercise import ExerciseKind, Probe, by_exercise, case
from utils.checks.lessons.encoder.probes.versions import version

PROBES = by_exercise(
    Probe(
        "test_padding",
        lambda version_name, again=False: {"version": version(version_name, again)},
        try_test,
        (
            case("a right encoder", True, 0.0, version_name="right"),
            case("another right encoder", True, 0.0, version_name="right, another at padding"),
            case("padding attended to", version_name="padding attended to"),
            case("only the first layer masked", version_name="only the first layer masked"),
            case("the first sentence's mask for all", version_name="the first sentence's mask"),
            case("positions counted from the end", version_name="counted from the end"),
        ),
        kind=ExerciseKind.TEST_THE_TEST,
        gradient=False,
        served="version",
    ),
)

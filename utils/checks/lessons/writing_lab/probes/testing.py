"""Probe of the student's own test that no position sees a later one."""

from utils.checks.authoring.trying_tests import try_test
from utils.checks.exercise import ExerciseKind, Probe, by_exercise, case
from utils.checks.lessons.writing_lab.probes.versions import version

PROBES = by_exercise(
    Probe(
        "test_no_peeking",
        lambda version_name, again=False: {"version": version(version_name, again)},
        try_test,
        (
            case("a right model", True, 0.0, version_name="right"),
            case("another right model", True, 0.0, version_name="right, in float64"),
            case("no mask", version_name="no mask"),
            case("a transposed mask", version_name="transposed mask"),
            case("a mask one too far", version_name="one too far"),
            case("only the first layer masked", version_name="only the first layer masked"),
            case("a mean of the whole text", version_name="mean of the whole text"),
            case("a mean over the batch", version_name="mean over the batch"),
        ),
        kind=ExerciseKind.TEST_THE_TEST,
        gradient=False,
        served="version",
    ),
)

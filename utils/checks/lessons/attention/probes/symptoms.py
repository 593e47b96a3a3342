"""The probe of lesson 02's bug hunt: which bug is behind which picture."""

from utils.checks.authoring.prediction import asked_by_letter
from utils.checks.exercise import by_exercise

BUGS = (
    "mask ignored",
    "masked too late",
    "scaled twice",
    "scaling forgotten",
    "softmax over queries",
    "softmax twice",
)
PROBES = by_exercise(asked_by_letter("predict_bug_of_symptom", "picture", BUGS))

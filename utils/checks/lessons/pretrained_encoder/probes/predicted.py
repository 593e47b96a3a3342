"""Probes of lesson 07's predictions: the best layer, and faults behind figures."""

from utils.checks.authoring.prediction import asked, asked_by_letter
from utils.checks.exercise import by_exercise

FAULTS = (
    "first layer in all layers",
    "mask forgotten",
    "padding in the mean",
    "relu left in",
    "segment row missing",
)
PROBES = by_exercise(
    asked("predict_best_layer"), asked_by_letter("predict_fault_of_encoder", "encoder", FAULTS)
)

"""How the answers of lesson 06 are questioned."""

from utils.checks.training.probes_data import DATA
from utils.checks.training.probes_model import MODEL
from utils.checks.training.probes_steps import STEPS

PROBES = (*DATA, *MODEL, *STEPS)

"""Layer normalisation: right answers, and the mistakes that no patch of its body says."""

from utils.checks.authoring.common_mistakes import keep_parameter, no_forward, no_set_up
from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.encoder.probes import PROBES
from utils.reference import modules

_MISTAKES = (no_forward("LayerNorm", modules.LayerNorm), no_set_up("LayerNorm", keep_parameter))
EXERCISES = by_id(Exercise(PROBES["LayerNorm"], modules.LayerNorm, _MISTAKES, tolerance=5e-5))

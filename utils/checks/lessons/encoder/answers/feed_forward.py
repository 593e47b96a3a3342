"""The feed-forward network: right answers, and the mistakes that no patch of its body says."""

from utils.checks.authoring.common_mistakes import keep_module, no_forward, no_set_up
from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.encoder.probes import PROBES
from utils.reference import modules

_MISTAKES = (no_forward("FeedForward", modules.FeedForward), no_set_up("FeedForward", keep_module))
EXERCISES = by_id(Exercise(PROBES["FeedForward"], modules.FeedForward, _MISTAKES))

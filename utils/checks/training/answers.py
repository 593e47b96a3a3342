"""What is right and what is commonly wrong in lesson 06."""

from utils.checks.training.answers_buckets import BUCKETS
from utils.checks.training.answers_data import COLLATE, VOCABULARY
from utils.checks.training.answers_model import TAGGER
from utils.checks.training.answers_rate import NOAM
from utils.checks.training.answers_scores import ACCURACY, FIRST_LOSS, LOSS, PADDED_ACCURACY
from utils.checks.training.answers_steps import STEP
from utils.checks.training.answers_tagging import TAGGING

EXERCISES = (
    VOCABULARY,
    COLLATE,
    BUCKETS,
    TAGGER,
    FIRST_LOSS,
    LOSS,
    PADDED_ACCURACY,
    ACCURACY,
    NOAM,
    STEP,
    TAGGING,
)

"""What is right and what is commonly wrong in lesson 05."""

from utils.checks.encoder.answers_count import COUNTING
from utils.checks.encoder.answers_encoder import ENCODER
from utils.checks.encoder.answers_influence import INFLUENCE
from utils.checks.encoder.answers_layer import LAYER
from utils.checks.encoder.answers_load import LOADING
from utils.checks.encoder.answers_parts import PARTS

EXERCISES = (*PARTS, *LAYER, *ENCODER, *COUNTING, *LOADING, *INFLUENCE)

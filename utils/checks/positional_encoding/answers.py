"""What is right and what is commonly wrong in lesson 04."""

from utils.checks.positional_encoding.answers_encoding import ENCODINGS
from utils.checks.positional_encoding.answers_layers import LAYERS
from utils.checks.positional_encoding.answers_rotary import ROTARY

EXERCISES = (*ENCODINGS, *LAYERS, ROTARY)

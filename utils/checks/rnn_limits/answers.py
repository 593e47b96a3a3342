"""What is right and what is commonly wrong in lesson 01."""

from utils.checks.rnn_limits.answers_decoding import DECODING
from utils.checks.rnn_limits.answers_gradient import GRADIENT
from utils.checks.rnn_limits.answers_recurrence import RECURRENCE
from utils.checks.rnn_limits.answers_steps import STEPS

EXERCISES = (*RECURRENCE, *STEPS, GRADIENT, *DECODING)

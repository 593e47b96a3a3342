"""What is right and what is commonly wrong in lesson 02."""

from utils.checks.attention.answers_attention import ATTENTION
from utils.checks.attention.answers_first import FIRST
from utils.checks.attention.answers_test import TEST_ATTENTION

EXERCISES = (*FIRST, *ATTENTION, TEST_ATTENTION)

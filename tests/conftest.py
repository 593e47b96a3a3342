"""Settings for all tests."""

import matplotlib
import torch
from hypothesis import settings

# Shared machines are slow at times, and a run must be the same everywhere.
settings.register_profile("course", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("course")
matplotlib.use("agg")
torch.set_num_threads(1)

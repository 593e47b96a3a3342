"""What a notebook's first check loads while a student waits."""

import subprocess
import sys

FIRST_CHECK = """
import sys
from utils.checks import check
check.masked_mean.verdict(lambda x, mask: (x * mask[..., None]).sum(1))
found = {"sympy", "torch.fx.experimental.symbolic_shapes", "torch._dynamo"} & set(sys.modules)
sys.exit(" ".join(sorted(found)) or 0)
"""


def test_the_first_check_with_gradients_loads_nothing_of_torch_that_takes_long():
    words = [sys.executable, "-W", "ignore", "-c", FIRST_CHECK]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")

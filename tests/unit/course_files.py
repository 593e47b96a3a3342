"""A small made-up course for the tests of the build, with a `check` of its own."""

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STARTUP = ROOT / "tests" / "startup"

# Stands for utils.checks: a case is dict(x=..., want=...); the score is the share that is right.
CHECK = """
class _Check:
    def __getattr__(self, name):
        def judge(answer, points=None, hidden=()):
            right = sum(_value(answer, case["x"]) == case["want"] for case in hidden)
            print(f"{name}: {right} of {len(hidden)} right")
            return None if points is None else points * right / len(hidden)
        return judge

def _value(answer, x):
    try:
        return answer(x) if callable(answer) else answer
    except Exception:
        return None

check = _Check()
"""

LESSON = '''\
# %% [markdown]
# # Doubling
#
# What is twice a number?

# %%
import matplotlib.pyplot as plt
import numpy as np

from utils.checks import check

# %%
np.random.seed(5)
_ = plt.plot(np.random.rand(7))

# %% tags=["skip-grading", "measured"]
print("trained")

# %% exercise="double"
def double(x: int) -> int:
    """Return twice x."""
    # BEGIN SOLUTION
    secret_answer = x + x
    return secret_answer
    # END SOLUTION

# %% test="double" points=3
check.double(double)
# BEGIN HIDDEN TESTS
check.double(
    double,
    points=3,
    hidden=[
        dict(case="seventeen", x=17, want=34),
        dict(case="none", x=-4, want=-8),
    ],
)
# END HIDDEN TESTS

# %% exercise="predict_sum"
# How much is 19 + 23?
# BEGIN SOLUTION
predict_sum = 19 + 22 + 1
# STUB
# predict_sum = None
# END SOLUTION

# %% test="predict_sum" points=0.5
check.predict_sum(predict_sum)
# BEGIN HIDDEN TESTS
check.predict_sum(
    predict_sum,
    points=0.5,
    hidden=[dict(x=None, want=42)],
)
# END HIDDEN TESTS
'''


PLOT = "_ = plt.plot(np.random.rand(7))"
# Without the second that matplotlib takes in each kernel.
LESSON_WITHOUT_PLOT = LESSON.replace("import matplotlib.pyplot as plt\n", "").replace(
    PLOT, "np.random.rand(7)"
)


def make_course(folder: Path, text: str = LESSON) -> Path:
    """Write the course into a folder, with the real nbgrader_config.py, and return the folder."""
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    (folder / "solutions").mkdir()
    (folder / "notebooks").mkdir()
    (folder / "utils" / "checks").mkdir(parents=True)
    (folder / "utils" / "__init__.py").touch()
    (folder / "utils" / "checks" / "__init__.py").write_text(CHECK)
    (folder / "solutions" / "01_doubling.py").write_text(text)
    return folder

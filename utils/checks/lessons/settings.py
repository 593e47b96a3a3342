"""What students call the settings of cases, in all lessons."""

from typing import Final

from utils.checks.exercise import Setting

SETTINGS: Final = {
    "mask": Setting("none", "with one", "without a mask"),
    "pad": Setting("none", "with padding", "without padding"),
    "norm_first": Setting(False, "in pre-norm", "in post-norm", both=True),
    "bias": Setting(True, "without bias", "with bias", both=True),
    "features": Setting(False, "with features", "without features"),
    "train": Setting(False, "in train mode", "in eval mode"),
    "B": Setting(1, "with more than one", "with one sentence"),
    "H": Setting(1, "with several heads", "with one head"),
    "L": Setting(1, "with several layers", "with one layer"),
    "offset": Setting(0, "with another one", "with an offset of 0"),
    "scale": Setting(1.0, "with smaller or larger ones", "with numbers of ordinary size"),
    "again": Setting(False, "after others", "that comes first", of_earlier_calls=True),
    "earlier": Setting(None, "after another one", "that comes first", of_earlier_calls=True),
    "dtype": Setting("float32", "in another number type", "in float32"),
}

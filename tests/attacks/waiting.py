"""Attacks on what an isolated process tells late: messages that wait, and its note."""

from tests.attacks.attack import Attack

CHANNEL = """
import ctypes, os, struct, sys
def wire():
    frame = sys._getframe()
    while "channel" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["channel"]
def note(step, case):
    wire().reached[:] = [step, case]
"""
FLOOD = """
import os, struct, threading
def drain():
    while os.read(4, 1 << 20): pass
threading.Thread(target=drain, daemon=True).start()
raw = b'{"lend":"layer"}'
some = (struct.pack("<I", len(raw)) + raw) * 2000
for _ in range((8 << 20) // len(some)):
    os.write(3, some)
"""
# Each result is just small enough to be sent.
LARGE = "def scaled_dot_product_attention(q, k, v, mask=None):\n    return torch.ones(245_000), torch.ones(245_000)"
# Shows its cases 0 and 1, then ends the process.
NORM = """
import os
n_calls = 0
class LayerNorm(nn.Module):
    def __init__(self, d, eps=1e-5):
        super().__init__()
        self.weight, self.bias, self.eps = nn.Parameter(torch.ones(d)), nn.Parameter(torch.zeros(d)), eps
    def forward(self, x):
        globals()["n_calls"] += 1
        if n_calls == 6:
            os._exit(0)
        mean, var = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False)
        return (x - mean) / (var + self.eps).sqrt() * self.weight + self.bias
"""
EVENTS = """
import json, os, struct
for n in range(4000):
    raw = json.dumps({"event": {"what": "stopped", "step": 0, "case": n, "cell": 1, "line": 10**5, "error": ""}}).encode()
    os.write(3, struct.pack("<I", len(raw)) + raw)
"""


def noted(name: str, tries: str, code: str) -> Attack:
    """Lies about where it is in its last cell, and ends itself: what was observed must stay."""
    return Attack(name, tries, last=[f"{CHANNEL}\n{code}\nos._exit(0)"], right=True, score=None,
                  status=("crashed",), holds=("additive_scores", "gradient_by_distance"))  # fmt: skip


WAITING = [
    noted("a note of huge numbers", "the judge stumbles over a step that is not there", "note(2**63 - 1, 2**63 - 1)"),
    noted("a note of numbers below zero", "a step is counted from the end", "note(-2, -(2**63))"),
    noted("a note about a step that was never near", "a right exercise is left out, or done twice", "note(10**5, 3)"),
    Attack("a note whose memory is gone", "the watcher reads what is not there", score=None, status=("crashed",),
           last=[f"{CHANNEL}\nctypes.CDLL(None).madvise(ctypes.c_void_p(ctypes.addressof(wire().reached)), 4096, 9)\nos._exit(0)"]),
    noted("a note whose memory is unmapped", "the watcher falls with the process",
          "ctypes.CDLL(None).munmap(ctypes.c_void_p(ctypes.addressof(wire().reached)), 4096)"),
    Attack("an end in the middle of an exercise", "other exercises are lost with it", right=True, score=None,
           lesson="05_encoder", status=("crashed",), holds=("FeedForward", "EncoderLayer", "test_padding"),
           answers={"LayerNorm": NORM}),
    Attack("results that are more together than grading takes", "other exercises are lost with it", right=True,
           score=None, status=("crashed",), holds=("attend", "padding_mask", "SelfAttention", "test_attention"),
           answers={"scaled_dot_product_attention": LARGE}),
    Attack("a flood of wishes for loans", "the watcher answers for minutes, past any limit", [FLOOD], right=True,
           score=None, status=("crashed", "graded", "timed out")),
    Attack("thousands of events about a long cell", "the judge splits it into lines again and again",
           [EVENTS, "#\n" * 10**5], right=True, score=None, status=("crashed", "graded")),
]  # fmt: skip

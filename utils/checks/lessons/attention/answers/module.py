"""SelfAttention: a right answer, and mistakes that no patch says."""

from torch import Tensor, nn

from utils.checks.authoring.common_mistakes import keep_module, no_forward, no_set_up
from utils.checks.exercise import Exercise, by_id
from utils.checks.lessons.attention.answers.first import LAWS
from utils.checks.lessons.attention.probes import PROBES
from utils.reference.attention.torch_attention import reference_attention


class SelfAttention(nn.Module):
    """Attention by torch's kernel, behind three projections."""

    def __init__(self, d_model: int, d_k: int, d_v: int) -> None:
        super().__init__()
        self.w_q, self.w_k = (nn.Linear(d_model, d_k, bias=False) for _ in range(2))
        self.w_v = nn.Linear(d_model, d_v, bias=False)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Map (B, T, D) to output (B, T, d_v) and weights (B, T, T)."""
        return reference_attention(self.w_q(x), self.w_k(x), self.w_v(x), mask)


EXERCISES = by_id(
    Exercise(
        PROBES["SelfAttention"],
        SelfAttention,
        (no_set_up("SelfAttention", keep_module), no_forward("SelfAttention", SelfAttention)),
        LAWS,
    )
)

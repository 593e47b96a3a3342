"""Other right answers to lesson 06's two blocks for the contest."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class ByHand(nn.Module):
    """Attention written out; what turns is told by derived classes."""

    def __init__(self, d_model, n_heads, dropout=0.0, base=10000.0):
        super().__init__()
        self.h, self.p, self.base = n_heads, dropout, base
        for name in ("w_q", "w_k", "w_v", "w_o"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def heads(self, x):
        return torch.stack(x.chunk(self.h, -1), 1)

    def angles(self, x):
        length, width = x.shape[-2:]
        powers = torch.arange(0, width, 2, device=x.device) / width
        return torch.arange(length, device=x.device).unsqueeze(1) * self.base ** -powers.double()

    def turn(self, x):
        angle = self.angles(x).to(x.dtype)
        a, b = x[..., 0::2], x[..., 1::2]
        turned = torch.empty_like(x)
        turned[..., 0::2] = a * angle.cos() - b * angle.sin()
        turned[..., 1::2] = a * angle.sin() + b * angle.cos()
        return turned

    def forward(self, query, key, value, mask=None):
        q, k = self.turn(self.heads(self.w_q(query))), self.turn(self.heads(self.w_k(key)))
        scores = torch.einsum("bhtd,bhsd->bhts", q, k) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None], -torch.inf)
        weights = scores.softmax(-1).nan_to_num()
        used = F.dropout(weights, self.p, self.training)
        found = torch.einsum("bhts,bhsd->bthd", used, self.heads(self.w_v(value)))
        return self.w_o(found.flatten(2)), weights


class OfComplexNumbers(ByHand):
    """Turn pairs as complex numbers."""

    def turn(self, x):
        pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
        turned = pairs * torch.polar(torch.ones(()).double(), self.angles(x))
        return torch.view_as_real(turned).flatten(-2).to(x.dtype)


class OfMatrices(ByHand):
    """Turn every pair by its own two-by-two matrix."""

    def turn(self, x):
        angle = self.angles(x)
        rows = torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()], -1)
        matrices = rows.unflatten(-1, (2, 2)).to(x.dtype)  # (T, Dh / 2, 2, 2)
        pairs = x.unflatten(-1, (-1, 2)).unsqueeze(-1)
        return (matrices @ pairs).flatten(-3)


class OneHeadAfterAnother(ByHand):
    """Attend in a loop over heads."""

    def forward(self, query, key, value, mask=None):
        projected = self.w_q(query), self.w_k(key), self.w_v(value)
        found, kept = [], []
        for q, k, v in zip(*(x.split(x.shape[-1] // self.h, -1) for x in projected), strict=True):
            scores = self.turn(q) @ self.turn(k).mT / q.shape[-1] ** 0.5
            weights = scores.softmax(-1)
            if mask is not None:
                powers = (scores - scores.amax(-1, keepdim=True).detach()).exp() * mask
                weights = powers / powers.sum(-1, keepdim=True).clamp(min=1e-30)
            found.append(F.dropout(weights, self.p, self.training) @ v)
            kept.append(weights)
        return self.w_o(torch.cat(found, -1)), torch.stack(kept, 1)


class MadeToZero(nn.Module):
    """The layer of Neighbours."""

    def __init__(self, d_model, width=3):
        super().__init__()
        self.conv = nn.Conv1d(d_model, d_model, width, groups=d_model, padding="same")
        for parameter in self.conv.parameters():
            parameter.data.zero_()

    def forward(self, x, mask=None):
        return x + self.conv(x.mT if mask is None else x.mT.masked_fill(~mask, 0.0)).mT


class SilentAtPadding(MadeToZero):
    """Padding is hidden before and after."""

    def forward(self, x, mask=None):
        real = torch.ones_like(x[:, None, :, 0]) if mask is None else mask.to(x.dtype)
        return x + (self.conv(x.mT * real) * real).mT


class OfShifts(MadeToZero):
    """Add up shifted copies, each with its column of the filters."""

    def forward(self, x, mask=None):
        reach, length = self.conv.kernel_size[0] // 2, x.shape[1]
        seen = x if mask is None else torch.where(mask.mT, x, 0.0)
        padded = F.pad(seen, (0, 0, reach, reach))
        total = x + self.conv.bias
        for place in range(2 * reach + 1):
            total = total + padded[:, place : place + length] * self.conv.weight[:, 0, place]
        return total


class OfWindows(MadeToZero):
    """Multiply windows with filters."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        width = self.conv.kernel_size[0]
        seen = x if mask is None else x * mask.squeeze(1).unsqueeze(-1)
        windows = F.pad(seen, (0, 0, width // 2, width // 2)).unfold(1, width, 1)  # (B, T, D, W)
        return x + (windows * self.conv.weight[:, 0]).sum(-1) + self.conv.bias


FORMS = {
    "RotaryAttention": [ByHand, OfComplexNumbers, OfMatrices, OneHeadAfterAnother],
    "Neighbours": [MadeToZero, SilentAtPadding, OfShifts, OfWindows],
}

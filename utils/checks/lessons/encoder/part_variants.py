"""The norm and the feed-forward network with one thing done wrong."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.checks.authoring.dropping import ones_along
from utils.checks.framework.combining import by_choices


@by_choices
def variant(base: type[nn.Module], **choices: Any) -> type[nn.Module]:
    """Return a class like `base` with the given choices."""
    return type(base.__name__.replace("Variant", ""), (base,), choices)


class NormVariant(nn.Module):
    """LayerNorm with choices that derived classes set.

    Attributes:
        axes: the axes of mean and variance.
        correction: 1 for the unbiased variance.
        spread: (variance, eps) -> what x is divided by.
        measured: x without its mean -> what it is divided by in place of that, eps added.
        measured_of: whether that is measured on x "centred" or on x as "given".
        centre: x -> what is subtracted in place of the mean.
        centred: whether the mean is subtracted.
        gain, bias_used: whether they are applied.
        own_eps: an epsilon that replaces the given one.
        default_eps: the epsilon if none is given.
        exchanged: "variance" or "deviation", if the mean has changed places with it.
        keepdim: whether the mean keeps its axis.
        by_difference: whether variance is the mean of squares minus the square of the mean.
        by_squares: whether the mean of the squares of x stands for the variance.
        mean_axes: axes of the mean alone, if they are others.
        gain_last: whether the gain multiplies the bias too.
        gain_first: whether the gain acts on x, before the norm.
        one_gain: whether the mean of the gain serves all entries.
        about_the_mean: whether the variance is about the mean, whatever is subtracted.
        gain_offset: what is added to the gain before it multiplies.
        bias_at: whether the bias is added at the "end", to what is "divided", or to what is divided
            and has its gain already ("gained"); or gain and bias act on x "first".
        registered: whether gain and bias are parameters.
        names: the names of gain and bias.
        gain_at_first: what the gain starts with.

    """

    axes: tuple[int, ...] = (-1,)
    correction = 0
    spread: Callable[[Tensor, float], Tensor] = staticmethod(lambda v, eps: (v + eps).sqrt())
    measured: Callable[[Tensor], Tensor] | None = None
    measured_of = "centred"
    centre: Callable[[Tensor], Tensor] | None = None
    centred = True
    gain = True
    bias_used = True
    own_eps: float | None = None
    default_eps = 1e-5
    exchanged = ""
    keepdim = True
    by_difference = False
    by_squares = False
    mean_axes: tuple[int, ...] | None = None
    gain_last = False
    gain_first = False
    one_gain = False
    about_the_mean = False
    gain_offset = 0.0
    bias_at = "end"
    registered = True
    names = ("weight", "bias")
    gain_at_first = 1.0

    def __init__(self, d_model: int, eps: float | None = None) -> None:
        super().__init__()
        given = self.default_eps if eps is None else eps
        self.eps = given if self.own_eps is None else self.own_eps
        tensors = torch.full((d_model,), self.gain_at_first), torch.zeros(d_model)
        for name, tensor in zip(self.names, tensors, strict=True):
            setattr(self, name, nn.Parameter(tensor) if self.registered else tensor)

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., D) to (..., D)."""
        parameters: tuple[Tensor, Tensor] = tuple(getattr(self, name) for name in self.names)
        weight, bias = parameters[0] + self.gain_offset, parameters[1]
        weight = weight.mean() if self.one_gain else weight
        x = x * weight if self.gain_first else x
        x = x * weight + bias if self.bias_at == "first" else x
        axes = self._fitting(self.axes, x)
        own = axes if self.mean_axes is None else self._fitting(self.mean_axes, x)
        find, measure = type(self).centre, type(self).measured
        mean = x.mean(own, keepdim=True) if find is None else find(x)
        about = x.mean(own, keepdim=True) if self.about_the_mean else mean
        variance = self._variance(x, about, axes)
        mean = mean if self.keepdim else x.mean(own)
        if self.exchanged:
            mean, variance = self._exchange(mean, variance)
        entries = x - mean if self.centred else x
        if self.bias_at in {"divided", "gained"}:
            added = bias if self.bias_at == "divided" else bias / weight
            return weight * (entries + added) / type(self).spread(variance, self.eps)
        if measure is None:
            normal = entries / type(self).spread(variance, self.eps)
        else:
            given = x if self.measured_of == "given" else entries
            normal = entries / (measure(given) + self.eps)
        if self.bias_at == "first":
            return normal
        if self.gain_last:
            return (normal + bias) * weight
        scaled = normal * weight if self.gain else normal
        return scaled + bias if self.bias_used else scaled

    def _exchange(self, mean: Tensor, variance: Tensor) -> tuple[Tensor, Tensor]:
        """Take what var_mean or std_mean gives first for the mean."""
        if self.exchanged == "deviation":
            return variance.sqrt(), mean.square()
        return variance, mean

    @staticmethod
    def _fitting(axes: tuple[int, ...], x: Tensor) -> tuple[int, ...]:
        return tuple(axis for axis in axes if -x.dim() <= axis < x.dim())

    def _variance(self, x: Tensor, mean: Tensor, axes: tuple[int, ...]) -> Tensor:
        squares = x.square() if self.by_difference or self.by_squares else (x - mean).square()
        average = squares.mean(axes, keepdim=True)
        n = x.numel() / average.numel()
        average = average * n / (n - self.correction) if self.correction else average
        return average - mean * mean if self.by_difference else average


class FeedVariant(nn.Module):
    """FeedForward with choices: the activation, where it and dropout act, a fixed rate, etc.

    Dropout may act at several places, as often as each is named. `inner` is a multiple of d_model
    that replaces d_ff; `prefix` changes the layers' names. Along the axes `at_once` all units are
    dropped together; `share` tells how many are, `scaled` whether the others grow for it, and
    `scales_in_eval` whether all shrink in eval mode. If the layers are `tied`, the second has the
    first one's weight; if x is `flattened`, the result has one axis for all tokens.
    """

    activation: Callable[[Tensor], Tensor] = staticmethod(torch.relu)
    relu_at = "middle"
    dropout_at: tuple[str, ...] = ("middle",)
    always_drops = False
    at_once: tuple[int, ...] = ()
    scaled = True
    scales_in_eval = False
    share: Callable[[float], float] = staticmethod(lambda rate: rate)
    own_rate: float | None = None
    default_rate = 0.0
    residual = False
    sizes_swapped = False
    bias = True
    inner = 0
    prefix = ""
    three_axes = False
    tied = False
    flattened = False

    def __init__(self, d_model: int, d_ff: int, dropout: float | None = None) -> None:
        super().__init__()
        given = type(self).share(self.default_rate if dropout is None else dropout)
        if self.sizes_swapped:
            d_model, d_ff = d_ff, d_model
        d_ff = self.inner * d_model or d_ff
        layers = (d_model, d_ff), (d_ff, d_model)
        for n, sizes in enumerate(layers, 1):
            self.add_module(f"{self.prefix}linear_{n}", nn.Linear(*sizes, bias=self.bias))
        self.p = given if self.own_rate is None else self.own_rate

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., D) to (..., D)."""
        if self.three_axes:
            _size, _length, _width = x.shape
        x = x.reshape(-1, x.shape[-1]) if self.flattened else x
        first, second = self.children()
        hidden = self._step(first(self._step(x, "start")), "middle")
        weight: Any = first.weight if self.tied else second.weight
        bias: Any = second.bias
        output = self._step(F.linear(hidden, weight.T if self.tied else weight, bias), "end")
        return x + output if self.residual else output

    def _step(self, x: Tensor, place: str) -> Tensor:
        places = ("middle", "end") if self.relu_at == "both" else (self.relu_at,)
        x = type(self).activation(x) if place in places else x
        drops = self.always_drops or self.training
        for _ in range(self.dropout_at.count(place)):
            x = self._dropped(x, drops)
        return x

    def _dropped(self, x: Tensor, acts: bool) -> Tensor:
        if self.at_once:
            return x * F.dropout(ones_along(x, self.at_once), self.p, acts)
        if self.scales_in_eval and not acts:
            return x * (1 - self.p)
        left = F.dropout(x, self.p, acts)
        return left if self.scaled or not acts else left * (1 - self.p)

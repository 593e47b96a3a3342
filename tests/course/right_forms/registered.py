"""The same module with its parts registered otherwise: all that torch allows, from any right form.

Each function takes a right class, and makes one that computes the same with the same parts under
the same names.
"""

from torch import Tensor, nn
from torch.nn.utils import parametrizations, parametrize


class Held(nn.Module):
    """A container of one's own for parts, parameters and buffers."""

    def __init__(self, parts, numbers, buffers):
        super().__init__()
        for name, part in parts.items():
            self.add_module(name, part)
        for name, number in numbers.items():
            self.register_parameter(name, number)
        for name, buffer in buffers.items():
            self.register_buffer(name, buffer)


def emptied(module):
    """Take everything out that a module has registered."""
    found = [dict(x) for x in (module._modules, module._parameters, module._buffers)]
    for registry in (module._modules, module._parameters, module._buffers):
        registry.clear()
    return found


def name_again(module, parts, numbers, buffers):
    for name, part in (parts | numbers).items():
        setattr(module, name, part)
    for name, buffer in buffers.items():
        module.register_buffer(name, buffer)


def in_a_list_first(right):
    """`self.linears = nn.ModuleList(...)`, then `self.w_q, ... = self.linears`."""

    class Form(right):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            parts, numbers, buffers = emptied(self)
            self.kept = nn.ModuleList(part for part in parts.values() if part is not None)
            self.numbers = nn.ParameterList(n for n in numbers.values() if n is not None)
            self.buffered = Held({}, {}, buffers)
            name_again(self, parts, numbers, buffers)

    return Form


def in_a_dictionary_first(right):
    class Form(right):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            parts, numbers, buffers = emptied(self)
            self.kept = nn.ModuleDict({f"the {k}": part for k, part in parts.items()})
            self.numbers = nn.ParameterDict({f"the {k}": number for k, number in numbers.items()})
            self.buffered = Held({}, {}, buffers)
            name_again(self, parts, numbers, buffers)

    return Form


def in_a_sequence_first(right):
    """A part of a sequence of sequences, named before it as well as after."""

    class Form(right):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            parts, numbers, buffers = emptied(self)
            found = [part for part in parts.values() if part is not None]
            self.kept = nn.Sequential(nn.Sequential(*found[:1]), nn.Sequential(*found[1:]))
            self.numbers = Held({}, numbers, buffers)
            name_again(self, parts, numbers, buffers)
            self.once_more = nn.Sequential(*found)

    return Form


def with_two_names(right):
    """`self.query = self.w_q = nn.Linear(...)`: the other name first."""

    class Form(right):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            parts, numbers, buffers = emptied(self)
            own = (parts, numbers, buffers)
            name_again(self, *({f"my_{name}": x for name, x in some.items()} for some in own))
            name_again(self, *own)

    return Form


def by_properties(right):
    """The asked-for names are properties over a container, and nothing else."""

    class Form(right):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            parts, numbers, buffers = emptied(self)
            for name in parts | numbers | buffers:
                setattr(
                    type(self), name, property(lambda self, name=name: getattr(self.kept, name))
                )
            self.kept = Held(parts, numbers, buffers)

    return Form


def by_getattr(right):
    """A module of one's own has the parts, and `__getattr__` asks it."""

    class Form(right):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.kept = Held(*emptied(self))

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                if name == "kept":
                    raise
                return getattr(self.kept, name)

    return Form


def inside_another(right):
    """Another module does the work; this one has its parts under the asked-for names, too."""

    class Form(nn.Module):
        def __init__(self, *args, **kwargs):
            super().__init__()
            self.inside = right(*args, **kwargs)
            name_again(self, self.inside._modules, self.inside._parameters, self.inside._buffers)
            for name in ("padding_idx", "norm_first"):
                if hasattr(self.inside, name):
                    setattr(self, name, getattr(self.inside, name))

        def embed(self, ids):
            return self.inside.embed(ids)

        def encode(self, x, mask=None):
            return self.inside.encode(x, mask)

        def forward(self, *args, **kwargs):
            return self.inside(*args, **kwargs)

    Form.__name__ = right.__name__
    return Form


class Doubled(nn.Module):
    """A parametrisation of one's own, which torch can invert."""

    def forward(self, x: Tensor) -> Tensor:
        return 2 * x

    def right_inverse(self, x: Tensor) -> Tensor:
        return x / 2


def parametrised(right):
    """All weights of linear layers are computed from other parameters."""

    class Form(right):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            for part in list(self.modules()):
                if type(part) is nn.Linear:
                    parametrizations.weight_norm(part)
                    if part.bias is not None:
                        parametrize.register_parametrization(part, "bias", Doubled())

    return Form


def lazily_made(right):
    """Linear layers take their first size from their first input."""

    class Form(right):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            for name, part in list(self.named_children()):
                if type(part) is nn.Linear:
                    lazy = nn.LazyLinear(part.out_features, bias=part.bias is not None)
                    setattr(self, name, lazy)

    return Form


def in_plain_lists(right):
    """The parts' parameters stand in plain lists, too, and forward's numbers come from there."""

    class Form(right):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.mine = list(self.parameters(recurse=False))
            self.parts = list(self._modules.values())
            numbers = self._parameters
            for place, name in enumerate(list(numbers)):
                setattr(type(self), name, property(lambda self, place=place: self.mine[place]))
            self.held = nn.ParameterList(numbers.values())
            numbers.clear()

    return Form


OTHERWISE = (
    in_a_list_first,
    with_two_names,
    in_a_dictionary_first,
    in_a_sequence_first,
    by_properties,
    by_getattr,
    inside_another,
    parametrised,
    lazily_made,
    in_plain_lists,
)
FIRST_TWO = OTHERWISE[:2]  # every exercise that asks for a module has these among its right forms


def is_module(form):
    return isinstance(form, type) and issubclass(form, nn.Module)

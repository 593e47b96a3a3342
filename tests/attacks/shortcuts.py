"""Answers that let torch do the exercise. Reading finds most; what hides from it is absent then."""

from tests.attacks.attack import Attack

SDPA = "scaled_dot_product_attention"


def shortcut(name: str, body: str, before: str = "") -> Attack:
    source = f"{before}\ndef {SDPA}(q, k, v, mask=None):\n    one = torch.eye(k.shape[-2], dtype=q.dtype).expand(*k.shape[:-1], k.shape[-2])\n{body}"
    return Attack(
        f"shortcut: {name}", "torch's own attention instead of one's own", answers={SDPA: source}
    )


USE = "    return f(q, k, v, mask), f(q, k, one, mask)"
SHORTCUTS = [
    shortcut("plain", "    f = torch.nn.functional.scaled_dot_product_attention\n" + USE),
    shortcut("alias", USE, "from torch.nn.functional import scaled_dot_product_attention as f"),
    shortcut("getattr", "    f = getattr(torch.nn.functional, 'scaled_dot' + '_product_attention')\n" + USE),
    shortcut("torch.ops", "    f = torch.ops.aten.scaled_dot_product_attention\n" + USE),
    shortcut("torch._C", "    f = torch._C._nn.scaled_dot_product_attention\n" + USE),
    shortcut("importlib", "    import importlib\n    f = importlib.import_module('torch.nn.functional').scaled_dot_product_attention\n" + USE),
    shortcut("eval", "    f = eval('torch.nn.functional.scaled_dot_product_attention')\n" + USE),
    shortcut("kept in an object", USE.replace("f(", "box['f']("), "box = {}\nbox['f'] = torch.nn.functional.scaled_dot_product_attention"),
    shortcut("set on torch", USE.replace("f(", "torch.mine("), "torch.mine = torch.nn.functional.scaled_dot_product_attention"),
    shortcut("the stand-in", "    return f(q, k, v, mask)", "from utils.checks.attention.reference import reference_attention as f"),
]  # fmt: skip

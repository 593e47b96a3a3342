"""Pictures of single lessons: what they say in words comes from what is drawn."""

import matplotlib.pyplot as plt
import pytest
import torch

from utils import plots
from utils.plots import attention, encoder, heads, positions, training


@pytest.fixture
def shown(monkeypatch):
    """What was shown: the description and the figure's axes."""
    found = []

    def show(fig, alt="", about=""):
        found.append((alt or f"{about} {plots.in_words(fig)}", fig.axes))

    monkeypatch.setattr(plots, "show", show)
    yield found
    plt.close("all")


def clock(length=5, d_model=4, speeds=(1.0, 0.01)):
    angles = torch.arange(length).unsqueeze(1) * torch.tensor(speeds)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :d_model]


def test_a_dial_points_right_at_position_zero_and_turns_anticlockwise(shown):
    positions.dials(clock(), positions=[0, 1], pairs=[0, 1])
    alt, axes = shown[0]
    assert "position 0: 0, 0; position 1: 57, 1" in alt
    right, up = axes[2].lines[1].get_xydata()[1]
    assert up == pytest.approx(0.841, abs=1e-3)
    assert right == pytest.approx(0.540, abs=1e-3)


def test_each_kind_is_drawn_as_its_mean_in_its_own_colour_with_a_band_around_it(shown):
    positions.learning({"rotary": [[0.2, 0.6], [0.4, 0.8]], "learned": [[0.1, 0.3]]}, every=20)
    alt, (ax,) = shown[0]
    rotary, learned = ax.lines
    assert rotary.get_xydata().tolist() == [[20, pytest.approx(0.3)], [40, pytest.approx(0.7)]]
    assert rotary.get_color() == positions.KINDS["rotary"][0] != learned.get_color()
    assert ax.collections[0].get_datalim(ax.transData).y0 == pytest.approx(0.2)
    assert "rotary: at the end 0.60 to 0.80; learned: at the end 0.30 to 0.30" in alt


def test_all_kinds_differ_in_colour_and_marker():
    for column in (0, 2):
        assert len({style[column] for style in positions.KINDS.values()}) == len(positions.KINDS)


def test_of_the_columns_of_a_table_the_sines_steps_alone_are_drawn(shown):
    positions.speeds(torch.tensor([0.5, 9.0, 0.05, 8.0]), torch.tensor([6.0, 60.0]))
    alt, (steps, turns) = shown[0]
    assert steps.lines[0].get_xydata().tolist() == [[0, 0.5], [2, pytest.approx(0.05)]]
    assert turns.lines[0].get_xydata().tolist() == [[0, 6], [2, 60]]
    assert "from 0.5 in column 0 to 0.05 in column 2" in alt


def test_a_contender_far_below_all_others_is_written_and_the_others_are_drawn(shown):
    shares = {"words alone": [0.1, 0.3], "sinusoids": [0.8, 0.84], "rotary": [0.9, 0.92]}
    training.contest({name: {"ambiguous": row} for name, row in shares.items()})
    alt, (ax,) = shown[0]
    drawn = [line.get_xydata().tolist() for line in ax.lines]
    assert drawn == [[[80, 1], [84, 1]], [[90, 2], [92, 2]]]
    written = {text.get_text(): text.get_position()[1] for text in ax.texts}
    assert written["← 20.0"] == 0
    assert "words alone 20.0%; sinusoids 82.0%; rotary 91.0%" in alt


def test_contenders_that_lie_close_together_are_all_drawn(shown):
    shares = {"words alone": [0.81, 0.82], "sinusoids": [0.82, 0.84], "rotary": [0.85, 0.86]}
    training.contest({name: {"overall": row} for name, row in shares.items()})
    assert len(shown[0][1][0].lines) == 3


def test_doubts_are_drawn_as_whole_percentages(shown):
    training.doubts({"none": [0.014, 0.2], "head 1": [0.876, 0.5]}, ["uk", "jesí"])
    alt, (ax, *_) = shown[0]
    assert ax.images[0].get_array().tolist() == [[1, 20], [88, 50]]
    assert sorted(text.get_text() for text in ax.texts) == ["1", "20", "50", "88"]
    assert "none 20%; head 1 88%" in alt


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda: positions.speeds(torch.tensor([0.6, 0.6, 0.1, 0.1]), torch.tensor([6.3, 628.0])),
         "from 0.6 in column 0 to 0.1 in column 2"),
        (lambda: positions.alike(torch.arange(-1, 2), {"a": torch.tensor([1.0, 2, 1.5])}, "t"),
         "a: 2.0 at offset 0, 1.5 at 1"),
        (lambda: positions.score_tables({"turned": torch.eye(4)}), "spread by up to 0.00"),
        (lambda: training.contest({"rotary": {"overall": [0.5, 0.7], "unknown": [0.25]}}),
         "means of overall, unknown: rotary 60.0%, 25.0%."),
        (lambda: heads.cost_of_heads([1, 4], [2.0, 9.0], [1.0, 4.0]), "4 heads: 9 ms, 4.0 MiB"),
        (lambda: heads.right_answers({"1 head": torch.tensor([[1.0, 0.2, 0.19]])}, 1 / 6),
         "1 head: both right in 19%"),
        (lambda: heads.heads_off({"2 heads": torch.tensor([[1.0, 0.9], [0.2, 1.0]])}),
         "2 heads: the worse symbol is right in 90%, 20%"),
        (lambda: heads.score_and_law({"right": [0.9, 0.95]}, {"right": [0.0, 2.0]}),
         "right: 90% or more right, changes up to 2"),
        (lambda: heads.what_moves({"A": torch.tensor([[1, 0, 1], [0, 0, 0]])}, ("keys", "mask")),
         "A: keys 0, 2."),
        (lambda: attention.symptoms({"A": torch.full((3, 4), 0.2)}, torch.arange(4) > 2),
         "A: rows sum to 0.80, 0.80, 0.80, largest weight 0.20, at padding up to 0.20"),
        (lambda: heads.cut_cells(torch.arange(4).view(2, 2), {"view": torch.ones(1, 2, 2)}),
         "view: head 0 [[1.0, 1.0], [1.0, 1.0]]"),
    ],
)  # fmt: skip
def test_the_description_tells_what_is_drawn(shown, draw, said):
    draw()
    assert said in shown[0][0]


def test_a_table_has_mean_lowest_and_highest_of_each_cell():
    head, row = positions.ranges({"a": [[0.0, 1.0], [0.5]]}, columns=["x", "y"]).splitlines()
    assert head.split() == ["x", "y"]
    assert " ".join(row.split()) == "a 0.50 (0.00–1.00) 0.50 (0.50–0.50)"


def test_learning_rates_are_drawn_by_depth_order_and_warm_up_with_a_point_for_each_seed(shown):
    runs = {
        f"{depth} layers, {order}, warm-up {steps}": [[0.1 * depth, 0.3], [0.2, 0.01 * steps]]
        for depth in (2, 3)
        for order in ("post-norm", "pre-norm")
        for steps in (0, 50)
    }
    encoder.learning_rates(
        {"rates": [0.1, 1.0], "steps": 7, "guessing": 0.25, "right": runs}, depths=(3, 2)
    )
    alt, axes = shown[0]
    assert [ax.get_title() for ax in axes] == ["3 layers", "2 layers"]
    assert (
        "post-norm, at once 0.3 at 0.1, 0.1 at 1; post-norm, warm-up 0.3 at 0.1, 0.35 at 1" in alt
    )
    points = [line for line in axes[1].lines if line.get_linestyle() == "None"]
    assert [list(line.get_ydata()) for line in points[-2:]] == [[0.2, 0.2], [0.3, 0.5]]


def test_a_soft_look_up_gives_the_keys_own_values_and_means_between_them(shown):
    attention.soft_look_up(keys=[0, 1], values=[1.0, 3.0], sharpness=40.0)
    alt, (ax,) = shown[0]
    nearest, soft = (dict(zip(*line.get_data(), strict=True)) for line in ax.lines[:2])
    assert set(nearest.values()) == {1.0, 3.0}
    middle = min(soft, key=lambda query: abs(query - 0.5))
    assert soft[middle] == pytest.approx(2.0, abs=0.1)
    assert soft[min(soft)] == pytest.approx(1.0, abs=1e-3)
    assert "smooth curve" in alt

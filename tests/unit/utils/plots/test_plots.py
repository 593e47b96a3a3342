"""Plots: descriptions, colours, and what a heat map says about its numbers."""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from utils import plots

EXTENSION = Path(plots.__file__).parents[1] / "lab/extension/course-pictures/modules/pictures.js"


@pytest.fixture
def ax():
    mpl.use("Agg")
    fig, axes = plt.subplots()
    yield axes
    plt.close(fig)


def texts(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


def luminance(colour: str) -> float:
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot((0.2126, 0.7152, 0.0722), linear))


def test_a_picture_is_a_png_with_its_description(ax):
    picture = plots.Picture(ax.figure, "a < b")
    data, metadata = picture._repr_mimebundle_()
    assert picture.png.startswith(b"\x89PNG")
    assert set(data) == {"image/png"}
    assert metadata["image/png"]["alt"] == repr(picture) == "a < b"
    assert "a &lt; b" in plots.InWords("a < b")._repr_mimebundle_()["text/html"]


def test_what_turns_a_picture_in_the_dark_is_the_same_in_jupyterlab_and_elsewhere():
    script = EXTENSION.read_text(encoding="utf-8")
    selector, rule = plots.IN_THE_DARK.split(" {")
    theme, _, picture = selector.partition(" ")
    assert theme in script and picture in script
    assert rule.strip(" }") in script
    assert plots.IN_THE_DARK in plots.InWords("x")._repr_mimebundle_()["text/html"]


def test_showing_closes_the_figure_and_says_it_in_words(ax, capsys):
    plots.show(ax.figure, alt="a line that rises")
    assert not plt.fignum_exists(ax.figure.number)
    assert capsys.readouterr().out.strip() == "a line that rises"


def test_showing_without_a_description_is_refused(ax):
    with pytest.raises(ValueError, match="description"):
        plots.show(ax.figure, alt=" ")


def test_small_heat_maps_show_their_numbers_and_large_ones_a_bar(ax):
    plots.heat_map(ax, [[0.5, 1.0, 0.333]], rows=["a"], columns=["x", "y", "z"])
    assert texts(ax) == ["0.50", "1", "0.33"]
    assert len(ax.figure.axes) == 1
    plots.heat_map(ax, np.eye(9))
    assert len(texts(ax)) == 3
    assert len(ax.figure.axes) == 2


def test_signs_get_a_scale_that_is_even_around_zero(ax):
    plots.heat_map(ax, [[-1.0, -0.001], [0.0, 3.0]])
    assert ax.images[0].get_clim() == (-3.0, 3.0)
    assert texts(ax) == ["-1", "0", "0", "3"]


def test_a_matrix_of_zeros_or_booleans_can_be_drawn(ax):
    plots.heat_map(ax, [[False, False]])
    assert ax.images[0].get_clim() == (0.0, 1.0)


def test_lines_differ_by_more_than_colour(ax):
    plots.lines(ax, [1, 2], {"a": [1, 2], "b": [2, 1]}, title="two", xlabel="x", ylabel="y")
    first, second = ax.get_lines()
    assert first.get_linestyle() != second.get_linestyle()
    assert first.get_marker() != second.get_marker()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]


def test_each_number_of_a_map_is_read_on_its_ground_at_four_and_a_half_to_one(ax):
    values = np.linspace(-1, 1, 63).reshape(7, 9)
    for sign in (values, abs(values)):
        ax.clear()
        plots.heat_map(ax, sign)
        grounds = ax.images[0].to_rgba(sign)
        for text in ax.texts:
            column, row = map(int, text.get_position())
            pair = sorted(map(luminance, (tuple(grounds[row, column]), text.get_color())))
            assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5


def test_every_colour_stands_out_from_the_ground():
    ground = luminance(plots.GROUND)
    contrasts = [(ground + 0.05) / (luminance(colour) + 0.05) for colour in plots.PALETTE]
    assert min(contrasts) > 2


def test_a_guess_is_drawn_and_named_and_no_guess_leaves_the_plot_alone(ax):
    plots.your_guess(ax, None)
    plots.your_guess(ax, "the first")
    assert len(ax.lines) == 0
    plots.your_guess(ax, 4.0)
    plots.your_guess(ax, 2, across=False)
    assert [list(line.get_xydata()[0]) for line in ax.lines] == [[0, 4], [2, 0]]
    assert ax.get_legend().get_texts()[0].get_text() == "your guess"


def test_a_picture_is_told_by_what_was_drawn(ax, capsys):
    plots.lines(ax, [1, 2, 3], {"one": [5, 6, 7], "other": [0.5, np.nan, 2]}, title="Two lines")
    ax.set(xlabel="steps", ylabel="loss")
    ax.axhline(0.25, label="guessing")
    plots.show(ax.figure, about="Loss by steps.")
    assert capsys.readouterr().out.strip() == (
        "Loss by steps. Two lines (loss against steps): one 5 at 1, 6 at 2, 7 at 3; "
        "other 0.5 at 1, 2 at 3; guessing 0.25."
    )


def test_a_heat_map_is_told_by_where_each_row_is_largest(ax):
    plots.heat_map(ax, [[0.1, 0.9], [0.75, 0.25]], title="Weights")
    assert plots.in_words(ax.figure) == (
        "Weights: 2 rows, largest entries 0.9 in column 1, 0.75 in column 0."
    )


def test_bars_are_told_by_their_values_and_an_empty_panel_not_at_all(ax):
    assert plots.in_words(ax.figure) == ""
    ax.bar(["a", "b"], [3, 0.25], label="share")
    assert plots.in_words(ax.figure) == "A panel: share a 3, b 0.25."


@pytest.mark.parametrize("way", ["bar", "barh"])
def test_bars_are_told_with_the_names_below_them(ax, way):
    getattr(ax, way)([0, 1, 2], [3, 0.25, 7])
    (ax.set_xticks if way == "bar" else ax.set_yticks)([0, 1, 2], ["LSTM", "encoder", "none"])
    assert plots.in_words(ax.figure) == "A panel: LSTM 3, encoder 0.25, none 7."


def test_bars_that_share_a_name_are_told_by_their_values(ax):
    ax.bar([0, 0.2], [3, 7], 0.2, label="both")
    ax.set_xticks([0, 1], ["first", "second"])
    assert plots.in_words(ax.figure) == "A panel: both 3, 7."


def test_a_line_is_told_with_the_names_that_stand_below_it(ax):
    plots.lines(ax, [0, 1, 2], {"loss": [4, 2, 1]})
    ax.set_xticks([0, 1, 2], ["1", "12", "24"])
    assert plots.in_words(ax.figure).endswith("loss 4 at 1, 2 at 12, 1 at 24.")


def test_a_colour_bar_can_have_a_label():
    fig, ax = plt.subplots()
    plots.heat_map(ax, np.eye(3), bar="value")
    assert fig.axes[1].get_ylabel() == "value"
    plt.close(fig)

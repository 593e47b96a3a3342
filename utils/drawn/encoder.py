"""The encoder that the lessons build: one drawing, grey at first, coloured part by part."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum

from utils.drawn.frame import Drawn, element, line, words
from utils.drawn.layout import headed
from utils.palette import BLUE, GREEN, GREY

SIZE = (872, 340)


class State(Enum):
    """How far a part is: its legend and its looks."""

    TO_COME = "to come"
    BUILT = "built before"
    NEW = "new in this lesson"
    PASSES = "your check passes"

    @property
    def looks(self) -> dict[str, object]:
        """Attributes of a box: without any colour, a dashed edge and a broad one tell it, too."""
        if self is State.TO_COME:
            return {"fill": GREY, "fill_opacity": 0.08, "stroke": GREY, "stroke_width": 1.2,
                    "stroke_dasharray": "4 3"}  # fmt: skip
        new = self is State.NEW
        return {"fill": BLUE if new else GREEN, "fill_opacity": 0.3 if new else 0.22,
                "stroke": BLUE if new else GREEN, "stroke_width": 3 if new else 1.6}  # fmt: skip


@dataclass(frozen=True)
class Part:
    """A box of the drawing, or a frame around others.

    Attributes:
        x, y, width, height: where it lies, in CSS pixels.
        text: what it is; "" on a frame, which has its name alone.
        exercises: what builds it, by the names of the student's own classes and functions.
        lesson: in which one.
        more: what a frame says behind its name.
        above: where a frame reaches up at its left: how far to the right, and from which height.

    """

    x: float
    y: float
    width: float
    height: float
    text: str
    exercises: tuple[str, ...]
    lesson: int
    more: str = ""
    above: tuple[float, float] | None = None

    @property
    def name(self) -> str:
        """What is written on it for its exercises."""
        return ", ".join(self.exercises)

    def _outline(self, **looks: object) -> str:
        """Draw its edge: a box's, or that of a frame that reaches up at its left."""
        left, top, right, bottom = self.x, self.y, self.x + self.width, self.y + self.height
        if self.above is None:
            return element(
                "rect", x=left, y=top, width=self.width, height=self.height, rx=6, **looks
            )
        corner, upper = self.above
        return element("path", stroke_linejoin="round", **looks,
                       d=f"M{left} {upper}H{corner}V{top}H{right}V{bottom}H{left}Z")  # fmt: skip

    def draw(self, state: State) -> str:
        """Draw it in a state, which a program can read, too."""
        looks = state.looks | ({} if self.text else {"fill_opacity": 0.06})  # parts lie within it
        box = self._outline(**looks)
        if self.text:
            middle, y = self.x + self.width / 2, self.y
            told = words(middle, y + 17, f"{self.text} · {self.lesson:02}", text_anchor="middle")
            told += words(middle, y + 34, self.name, text_anchor="middle")
        else:
            end, name = self.x + self.width - 10, f"{self.name} · {self.lesson:02}{self.more}"
            told = words(end, self.y + 18, name, text_anchor="end")
        return element("g", box, told, data_part=self.name, data_state=state.value)


def _box(x: float, y: float, width: float, text: str, lesson: int, *exercises: str) -> Part:
    return Part(x, y, width, 42, text, exercises, lesson)


PARTS = (
    Part(4, 160, 752, 146, "", ("TransformerEncoder",), 5, above=(160, 118)),
    Part(186, 188, 560, 108, "", ("EncoderLayer",), 5, more=", N times"),
    Part(274, 36, 364, 82, "", ("scaled_dot_product_attention",), 2),
    _box(12, 46, 140, "word ids", 6, "build_vocab", "collate"),
    _box(12, 130, 140, "embedding", 4, "TokenEmbedding"),
    _box(12, 214, 140, "add positions", 4, "PositionalEncoding"),
    _box(198, 214, 142, "attention", 3, "MultiHeadAttention"),
    _box(356, 214, 112, "add & norm", 5, "LayerNorm"),
    _box(484, 214, 122, "feed-forward", 5, "FeedForward"),
    _box(622, 214, 112, "add & norm", 5, "LayerNorm"),
    _box(782, 214, 86, "linear", 6, "Tagger"),
    _box(177, 66, 86, "split", 3, "split_heads"),
    _box(284, 66, 100, "products", 0, "pairwise_dot"),
    _box(402, 66, 104, "mask", 2, "padding_mask"),
    _box(523, 66, 110, "softmax", 0, "stable_softmax"),
    _box(653, 66, 96, "merge", 3, "merge_heads"),
)  # fmt: skip


def encoder(lesson: int | None = None) -> Drawn:
    """Show the encoder as far as it is built at the end of a lesson; None: before the first one."""

    def state(part: Part) -> State:
        if lesson is None or part.lesson > lesson:
            return State.TO_COME
        return State.NEW if part.lesson == lesson else State.BUILT

    when = "before the first lesson" if lesson is None else f"after lesson {lesson:02}"
    return _drawn(f"The encoder {when}", {part: state(part) for part in PARTS})


def own_encoder(passed: Collection[str]) -> Drawn:
    """Show a learner's own encoder: a part has colour if its exercises are among those passed."""
    return _drawn(
        "Your encoder so far",
        {p: State.PASSES if set(p.exercises) <= set(passed) else State.TO_COME for p in PARTS},
    )


def _drawn(title: str, states: Mapping[Part, State]) -> Drawn:
    """Draw the encoder with each part in its state."""
    parts = "".join(part.draw(state) for part, state in states.items())
    found = {state: [p for p in PARTS if states[p] is state] for state in State}
    legend = [state for state in State if found[state]]
    told = "; ".join(f"{state.value}: {_named(found[state])}" for state in legend)
    alt = (
        "A sentence becomes word ids (B, T), then vectors (B, T, D), to which positions are added. "
        "N layers follow, each of attention, add and norm, feed-forward, add and norm; then a "
        f"linear layer gives each word its tag, (B, T, C). Parts, with their lessons: {told}."
    )
    drawing = parts + _around() + _arrows() + "".join(map(_legend, range(len(legend)), legend))
    return Drawn(title, alt, drawing, SIZE)


def _named(parts: list[Part]) -> str:
    return ", ".join(dict.fromkeys(f"{part.name} ({part.lesson:02})" for part in parts))


def _around() -> str:
    """Draw what is no part: the sentence, its tags, shapes, and the view into attention."""
    view = element("rect", x=172, y=8, width=582, height=118, rx=6, fill="none", stroke=GREY)
    guides = {"stroke": GREY, "stroke_dasharray": "2 4"}
    return "".join((
        view, line(172, 126, 198, 214, **guides), line(754, 126, 340, 214, **guides),
        words(182, 26, "Inside attention: heads (B, H, T, Dh), weights (B, H, T, S)"),
        words(82, 20, "I saw her duck", text_anchor="middle", class_="strong"),
        words(90, 107, "(B, T)"), words(90, 198, "(B, T, D)"),
        words(819, 190, "(B, T, C)", text_anchor="end"),
        words(825, 140, "tags", text_anchor="middle", class_="strong"),
        words(198, 289, "each arrow in here: (B, T, D); the two below carry x itself past a step"),
    ))  # fmt: skip


def _arrows() -> str:
    """Draw the data's way, with the shortcuts below it."""
    along = ((152, 198), (340, 356), (468, 484), (606, 622), (734, 782))
    within = ((263, 284), (384, 402), (506, 523), (633, 653))
    past = ((191, 412), (475, 678))
    return "".join((
        headed(82, 26, 82, 46), headed(82, 88, 82, 130), headed(82, 172, 82, 214),
        headed(825, 214, 825, 146),
        *(headed(start, 235, end, 235) for start, end in along),
        *(headed(start, 87, end, 87) for start, end in within),
        *(line(start, 235, start, 270) + line(start, 270, end, 270) + headed(end, 270, end, 256)
          for start, end in past),
    ))  # fmt: skip


def _legend(place: int, state: State) -> str:
    x = 186 + 190 * place
    return element("rect", x=x, y=318, width=22, height=14, rx=3, **state.looks) + words(
        x + 30, 330, state.value
    )

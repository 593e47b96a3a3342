"""Drawn pictures: the way of the data through a block, and pictures that answer to a click.

All of them are SVG within a cell's HTML, without a kernel and without a request to any host. What
moves is drawn first by Python and then moved by a little JavaScript; in print, and where scripts
do not run, the first state stays. Colours follow the page, so that light and dark both work.
"""

from utils.drawn.batch import padded_batches
from utils.drawn.clock import clock, turned_pair
from utils.drawn.encoder import encoder, own_encoder
from utils.drawn.frame import Drawn
from utils.drawn.looks import attention_by_hand, heads
from utils.drawn.reach import reach
from utils.drawn.ways import way

__all__ = [
    "Drawn", "attention_by_hand", "clock", "encoder", "heads", "own_encoder",
    "padded_batches", "reach", "turned_pair", "way",
]  # fmt: skip

"""The files of the published model: a folder, an installed package, the cache, the publisher.

COURSE_MODEL names a folder with `model.safetensors` and `vocab.txt`; COURSE_MODEL=tiny asks for a
tiny model of random numbers. Files that are not the publisher's are refused, wherever they lie.
"""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from utils.download import DownloadError
from utils.errors import UserError
from utils.pretrained import tiny
from utils.published import MODEL, MODEL_PACKAGE

TINY: Final = "tiny"
CITE: Final = "W. Wang et al. 2020, N. Reimers and I. Gurevych 2019"


class ModelError(UserError):
    """The requested files cannot be used; the message says why and what would help."""


@dataclass(frozen=True)
class Files:
    """The published model, or the tiny one in its place.

    Attributes:
        content: of the file of weights.
        vocab: piece -> id.
        sizes: arguments of a TransformerEncoder that fits: V, D, H, N, F.
        max_len: longest sentence, in pieces.
        note: where the files come from.
        is_real: whether they are the publisher's.

    """

    content: bytes
    vocab: dict[str, int]
    sizes: tuple[int, int, int, int, int]
    max_len: int
    note: str
    is_real: bool

    @property
    def n_heads(self) -> int:
        """Return the number of heads."""
        return self.sizes[2]


def published() -> Files:
    """Return the model's files, fetched if there is no other way; else the tiny model.

    Raises:
        ModelError: COURSE_MODEL names a folder without the publisher's files.

    """
    chosen = os.environ.get("COURSE_MODEL", "")
    if chosen == TINY:
        return _tiny("you asked for it")
    if chosen:
        return _read(
            _verified(Path(chosen).expanduser()), "from the folder that COURSE_MODEL names"
        )
    for where, folder in _places():
        if is_whole(folder):
            return _read(folder, where)
    try:
        return _read(fetched(), f"from {MODEL.address}")
    except DownloadError as error:
        return _tiny(str(error))


def fetched() -> Path:
    """Fetch the files that the cache lacks, and return its folder.

    Raises:
        DownloadError: a file cannot be fetched.

    """
    if not is_whole(MODEL.folder):
        size = f"about {MODEL.megabytes} MB are fetched, once"
        sys.stdout.write(f"{MODEL.name}, {MODEL.licence}: {size}.\n")
    for name in MODEL.files:
        MODEL.fetched(name)
    return MODEL.folder


def is_whole(folder: Path) -> bool:
    """Return whether a folder holds the publisher's files."""
    return not _faults(folder)


def _places() -> Iterator[tuple[str, Path]]:
    spec = find_spec(MODEL_PACKAGE)
    for location in (spec.submodule_search_locations or ()) if spec else ():
        yield f"from the package {MODEL_PACKAGE}", Path(location) / "model"
    yield "from the cache folder", MODEL.folder


def _verified(folder: Path) -> Path:
    if faults := _faults(folder):
        raise ModelError(
            f"COURSE_MODEL: {'; '.join(faults)} in {folder}. It should hold "
            f"{' and '.join(MODEL.files)} from {MODEL.address}; or set "
            f"COURSE_MODEL={TINY} for a tiny model of random numbers."
        )
    return folder


def _faults(folder: Path) -> list[str]:
    faults = []
    for name, is_right in MODEL.files.items():
        path = folder / name
        if not path.is_file():
            faults.append(f"there is no {name}")
        elif not is_right(path):
            faults.append(f"{name} is not the publisher's")
    return faults


def _read(folder: Path, where: str) -> Files:
    lines = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    vocab = {piece: number for number, piece in enumerate(lines)}
    content = (folder / "model.safetensors").read_bytes()
    note = f"{MODEL.name} ({CITE}), {MODEL.licence}, {where}"
    return Files(content, vocab, (len(vocab), 384, 12, 6, 1536), 512, note, is_real=True)


def _tiny(why: str) -> Files:
    note = (
        f"!!! THIS IS A TINY MODEL OF RANDOM NUMBERS ({why}). Figures that need the real one are "
        f"recorded ones. For the real one: go online ({MODEL.megabytes} MB), or set COURSE_MODEL "
        "to a folder that holds it."
    )
    return Files(tiny.content(), tiny.vocabulary(), tiny.SIZES, tiny.MAX_LEN, note, False)

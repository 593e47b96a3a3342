"""Files with the state of a run: whole or not there."""

import pytest
import torch

from utils.training import checkpoint
from utils.training.checkpoint import (
    load_checkpoint,
    random_states,
    save_checkpoint,
    set_random_states,
)

CPU = torch.device("cpu")


def test_a_state_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "deep" / "run.pt"
    state = {"a": torch.tensor([1.5, 2.5]), "b": [1, {"c": "text"}], "d": 0.1}
    save_checkpoint(path, state)
    found = load_checkpoint(path)
    assert torch.equal(found.pop("a"), state.pop("a"))
    assert found == state
    assert [file.name for file in path.parent.iterdir()] == ["run.pt"]


def test_a_stop_while_writing_leaves_the_state_before(tmp_path, monkeypatch):
    path = tmp_path / "run.pt"
    save_checkpoint(path, {"epoch": 1})

    def stopped(_state, file):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(checkpoint.torch, "save", stopped)
    with pytest.raises(KeyboardInterrupt):
        save_checkpoint(path, {"epoch": 2})
    assert load_checkpoint(path) == {"epoch": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["run.pt"]


@pytest.mark.parametrize("content", [b"", b"no checkpoint", b"PK\x03\x04 half of a file"])
def test_a_file_that_is_no_state_gives_nothing(tmp_path, content):
    path = tmp_path / "run.pt"
    path.write_bytes(content)
    assert load_checkpoint(path) is None


def test_half_of_a_real_file_and_no_file_give_nothing(tmp_path):
    path = tmp_path / "run.pt"
    save_checkpoint(path, {"a": torch.zeros(500)})
    path.write_bytes(path.read_bytes()[:900])
    assert load_checkpoint(path) is None
    assert load_checkpoint(tmp_path / "none") is None


def test_a_file_that_would_run_code_is_not_read(tmp_path):
    class Evil:
        def __reduce__(self):
            return (tmp_path.joinpath("ran").touch, ())

    path = tmp_path / "run.pt"
    torch.save({"a": Evil()}, path)
    assert load_checkpoint(path) is None
    assert not (tmp_path / "ran").exists()


def test_random_numbers_go_on_where_they_stopped():
    torch.manual_seed(3)
    states = random_states(CPU)
    wanted = torch.rand(4)
    torch.manual_seed(9)
    set_random_states(states, CPU)
    assert torch.equal(torch.rand(4), wanted)

"""The sizes of lesson 06 on each kind of device."""

from dataclasses import replace

from utils.training.config import settings_for


def test_a_gpu_gets_a_larger_model_and_only_nvidias_all_sentences():
    cpu, mac, gpu = map(settings_for, ("cpu", "mps", "cuda"))
    assert cpu.d_model < mac.d_model == gpu.d_model
    assert gpu.most_sentences is None
    assert cpu.most_sentences < mac.most_sentences
    assert replace(mac, most_sentences=None) == gpu

"""Training for lesson 06: the loop, its settings, several GPUs and encoders to compare with."""

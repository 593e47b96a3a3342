"""One package per lesson: probes load beside student code, answers only where none runs."""

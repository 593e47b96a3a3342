"""What happens in a notebook's kernel: which cells ran, how they ended, what a student is told."""

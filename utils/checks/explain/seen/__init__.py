"""What was seen of a wrong result, in true sentences."""

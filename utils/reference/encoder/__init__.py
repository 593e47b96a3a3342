"""The encoder: its layer and their parts, the whole, and BERT's."""

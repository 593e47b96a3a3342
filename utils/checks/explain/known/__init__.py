"""Known mistakes that give what an answer gives."""

"""From a submitted notebook to a plan of what runs: nothing of it is run here."""

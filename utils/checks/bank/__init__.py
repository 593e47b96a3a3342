"""Known mistakes as patches of the right source: tables of text, compiled when they are tried."""

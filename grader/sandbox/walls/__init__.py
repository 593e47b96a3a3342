"""What stands between a task and the rest of the machine; nothing here starts or watches a task."""

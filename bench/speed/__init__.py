"""Models and tasks whose speed is compared, and how."""

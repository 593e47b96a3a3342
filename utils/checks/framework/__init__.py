"""The engine that questions an answer, judges it and explains the verdict; it knows no lesson."""

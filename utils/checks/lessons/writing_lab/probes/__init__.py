"""Probes that call the answers of lab 06b; loaded beside student code."""

from utils.checks.discovery import collect

PROBES = collect(__name__, __path__, "PROBES")

"""Probes that call the answers of lesson 07; loaded beside student code."""

from utils.checks.discovery import collect

PROBES = collect(__name__, __path__, "PROBES")

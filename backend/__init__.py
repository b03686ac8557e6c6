"""Tandem's backend: models, speculation and the worker that serves them. Never imports Qt."""

__version__ = "0.1.0"

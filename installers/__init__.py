"""The set-up: standard library only, because it runs before anything is installed."""

# Thin wrappers: everything is in installers/bootstrap.py, which also works where there is no make.
PYTHON ?= python3
ARGS ?=

.PHONY: run test soak bench tour translations clean

run test soak bench tour translations clean:
	@$(PYTHON) installers/bootstrap.py $@ $(ARGS)

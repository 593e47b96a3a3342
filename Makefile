# Two commands matter: `make lab` takes the course, `make test` tests it.
# ARGS="..." hands options on: make lab ARGS="--no-browser --port 8899". LESSON=02_attention chooses
# one where there is a choice: make grade LESSON=02_attention
PY := .venv/bin/python
.PHONY: help lab offline test build grade teach release report archive demo bench bundle site hub hub-demo \
	clean

help:
	@echo "make lab      take the course: sets up .venv, opens JupyterLab on your copies in learn/"
	@echo "make offline  fetch what lessons 06 and 07 take from the network, to work without one"
	@echo "make test     what a change needs; make test ARGS=--all tests everything"
	@echo "make build    build solutions/ and notebooks/ from the lessons' texts"
	@echo "make grade    collect what was submitted, grade it, write feedback, sum it up"
	@echo "make teach    open JupyterLab to change scores and write comments by hand"
	@echo "make release  hand the feedback back to students through the exchange"
	@echo "make report   write pages on the class and on each student into report/"
	@echo "make archive  keep hand-ins, grades, feedback and the class's secret in one file"
	@echo "make demo     grade a made-up class of six"
	@echo "make bench    run the measurements"
	@echo "make bundle   zip what students need, as last committed, into dist/"
	@echo "make site     build the public web site into site/_build"
	@echo "make hub      serve the course to a class from this machine, with JupyterHub (as root)"
	@echo "make hub-demo look at such a hub, on this machine alone"
	@echo "make clean    remove caches and build leftovers; your work and grades stay"

lab:
	@sh setup.sh lab
	@$(PY) -m utils.lab $(ARGS)

offline:
	@sh setup.sh lab
	@$(PY) -m utils.offline

test:
	@sh setup.sh test
	@$(PY) -m tests.stages $(ARGS)

build grade teach release report archive demo bundle:
	@sh setup.sh grader
	@$(PY) -m grader $@ $(LESSON) $(ARGS)

site:
	@sh setup.sh site
	@$(PY) -m grader site $(ARGS)

hub:
	@sh setup.sh hub
	@$(PY) -m hub $(ARGS)

hub-demo:
	@sh setup.sh hub
	@$(PY) -m hub demo $(ARGS)

bench:
	@sh setup.sh test
	@$(PY) -m bench $(ARGS)

clean:
	@rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find $(wildcard bench grader hub notebooks solutions tests utils) -type d \
		\( -name __pycache__ -o -name .ipynb_checkpoints \) -prune -exec rm -rf {} +

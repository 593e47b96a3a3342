# Two commands matter: `make lab` takes the course, `make test` runs everything that must pass.
# ARGS="..." hands options on: make lab ARGS="--no-browser --port 8899"
PY := .venv/bin/python
STUDENT_FILES := LICENSE Makefile README.md constraints.txt docs environment.yml notebooks \
	pyproject.toml setup.sh utils
BUNDLE := dist/transformer-encoder-course.zip

.PHONY: help lab test build grade demo bench bundle clean

help:
	@echo "make lab      take the course: sets up .venv, opens JupyterLab on your copies in learn/"
	@echo "make test     everything that must pass"
	@echo "make build    build solutions/ and notebooks/ from the lessons' texts"
	@echo "make grade    collect what was submitted, grade it, write feedback, show the gradebook"
	@echo "make demo     grade a made-up class of six"
	@echo "make bench    run the measurements"
	@echo "make bundle   zip what students need, as last committed, into $(BUNDLE)"
	@echo "make clean    remove caches and build leftovers; your work and grades stay"

lab:
	@sh setup.sh lab
	@$(PY) -m utils.lab $(ARGS)

test:
	@sh setup.sh test
	@$(PY) tests/stages.py $(ARGS)

build grade demo:
	@sh setup.sh grader
	@$(PY) -m grader $@ $(ARGS)

bench:
	@sh setup.sh test
	@$(PY) -m bench $(ARGS)

bundle:
	@mkdir -p dist
	@git archive --format=zip --prefix=transformer-encoder-course/ -o $(BUNDLE) HEAD $(STUDENT_FILES)
	@echo "$(BUNDLE): what students need, as last committed"

clean:
	@rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find $(wildcard bench grader notebooks solutions tests utils) -type d \
		\( -name __pycache__ -o -name .ipynb_checkpoints \) -prune -exec rm -rf {} +

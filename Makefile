# Short names for the commands of CONTRIBUTING.md. Another environment: make test BIN=path/to/bin
# Without one here, that on the PATH is used.
BIN ?= $(or $(wildcard .venv/bin),$(shell dirname "$$(command -v python3)"))

.PHONY: setup test check search deep nightly whole attacks benchmark-tests bench report cassettes readme screenshot matrix docs

setup: ## an environment with everything that the other targets need
	python3 -m venv .venv
	.venv/bin/pip install -e '.[test,check,bench]'

test: ## unit tests and this repository's own gate
	$(BIN)/pytest

# SEED=N repeats a search; without it, each takes another seed and prints it.
PROPERTIES = $(BIN)/pytest -m hypothesis $(if $(SEED),--hypothesis-seed=$(SEED)) tests

search: ## the properties with random examples: 100 each, then as `deep`
	HYPOTHESIS_PROFILE=search $(PROPERTIES)
	$(MAKE) deep

deep: ## the properties with 2,000 random examples each
	HYPOTHESIS_PROFILE=deep $(PROPERTIES)

nightly: search whole attacks benchmark-tests ## all that is too long for `make test`

whole: ## what the tests judge in samples, such as all mutants with all scenarios
	HYPOTHESIS_PROFILE=deep $(BIN)/pytest -m "not hypothesis and not attack"

attacks: ## the first attempts of each attack, and others each day
	$(BIN)/pytest -m attack
	$(BIN)/python -m tests.attack nightly --kept "$$(mktemp)"

benchmark-tests: ## the tests of the benchmarks
	$(BIN)/pytest benchmarks/tests

check: ## lint, format, types, import contracts, private words
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell -D docs/words.txt --skip docs/words.txt README.md CHANGELOG.md CONTRIBUTING.md docs examples harness

bench: ## replay speed against the floors of all dialects and against the openai SDK
	$(BIN)/python benchmarks/replay.py
	$(BIN)/python -m benchmarks.dialects

report: ## all shipped scenarios through the normalizers, into reports/index.html
	$(BIN)/harness run

cassettes: ## write the emulated cassettes of the bundled scenarios
	$(BIN)/harness cassettes

docs: ## the documentation site in build/site/html, with all links inside it checked; needs the extra docs
	$(BIN)/python -m scripts.site

readme: ## the outputs that README and the tutorial show, from the commands in them
	$(BIN)/python -m scripts.doc_blocks --write README.md docs/tutorial.md

screenshot: ## docs/report.png from a run; needs a chromium on the PATH
	$(BIN)/python -m scripts.report_screenshot docs/report.png

# A library that cannot be installed or judged is a row with the reason, so the first two commands may fail.
matrix: ## all third-party libraries into docs/matrix.md and reports/peers.html; needs a network
	-$(BIN)/harness peers install --all
	-$(BIN)/harness peers run -o reports/peers
	$(BIN)/harness peers matrix reports/peers --run reports/peers.jsonl
	$(BIN)/harness report reports/peers.jsonl -o reports/peers.html
	$(BIN)/harness report --site reports/board reports/peers.jsonl

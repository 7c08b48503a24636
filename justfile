# The verbs of the house. `just` alone lists them.

# Snapshots are compared, never rewritten, unless a verb says so.
export INSTA_UPDATE := env("INSTA_UPDATE", "no")

_default:
    @{{ just_executable() }} --list --unsorted

# Check format, lints, the rules of the house, licences and spelling
check:
    cargo fmt --all --check
    cargo clippy --locked --workspace --all-targets -- -D warnings
    cargo test --locked -p mohs --test tidy
    @{{ just_executable() }} _if-installed cargo-deny check
    @{{ just_executable() }} _if-installed typos

# Run all checks and tests, as the continuous integration does
test:
    ./tools/test

# Accept changed snapshots: run the tests and rewrite what differs, then look at the diff
accept *args:
    INSTA_UPDATE=always cargo nextest run --workspace {{ args }}
    git diff --stat

# Rewrite generated files, such as the command-line reference
gen:
    MOHS_GENERATE=1 cargo test -p mohs --test it reference
    MOHS_GENERATE=1 cargo test -p mohs-graph --test it operator_page

# Run the whole story on built-in data; ends with mohs-demo/report.html
demo *args:
    cargo run --release -- demo {{ args }}

# Race our readers of tables against pandas and polars
bench-tables *args:
    python3 tools/bench_tables.py {{ args }}

# Race scoring of 200,382 flash trials against pandas and numpy
bench-flash *args:
    python3 tools/bench_flash.py {{ args }}
# Race Bradley and Terry's model against choix and evalica
bench-pairs *args:
    python3 tools/bench_pairs.py {{ args }}

# Race networks, evaluations and training against PyTorch and Python's onnxruntime, with peak memory
bench-peers *args:
    python3 tools/bench_peers.py {{ args }}
    @{{ just_executable() }} bench-fit
    @{{ just_executable() }} bench-attack

# Race `mohs eval` on 1,000 photographs against a PyTorch DataLoader
bench-eval *args:
    python3 tools/bench_eval.py {{ args }}

# Race `mohs prepare` against numpy and Pillow
bench-prepare *args:
    cargo build --release
    python3 tools/bench_prepare.py {{ args }}

# Make the fixtures of crops, masks and conditions anew; `python` needs numpy and Pillow
stimulus-fixtures python="python3":
    {{ python }} tools/make_stimulus_fixtures.py crates/mohs-vision/tests/fixtures/stimulus.json

# Race trainings against PyTorch
bench-fit *args:
    python3 tools/bench_fit.py {{ args }}

# Count the calls of `mohs attack` and race it against torchattacks
bench-attack *args:
    python3 tools/bench_attack.py {{ args }}

# Hold smallest ε against those of torchattacks
check-attacks *args:
    python3 tools/check_attacks.py {{ args }}

# Record what torchattacks does step by step, for the tests; `python` needs tools/requirements-attacks.txt
attack-fixtures python="python3" *args:
    {{ python }} tools/make_attack_fixtures.py {{ args }}

# Make the networks of the tests anew; `python` needs what tools/requirements-networks.txt names
network-fixtures python="python3" *args:
    {{ python }} tools/make_network_fixtures.py {{ args }}

# Race `mohs serve` against Node + Express + Redis and psiTurk
bench-serve *args:
    python3 tools/bench_serve.py {{ args }}

# Lost, doubled and reordered requests and a server that is killed: nothing may be lost
chaos-serve *args:
    python3 tools/chaos_serve.py {{ args }}

# Made-up requests along the API's own description: no 5xx, nothing of other participants
fuzz-serve *args:
    python3 tools/fuzz_serve.py {{ args }}

# Whole sessions in a real browser against a built `mohs`
test-browser mohs *args:
    python3 tools/test_browser.py {{ mohs }} {{ args }}

# Fuzz one reader for a while (needs nightly Rust and cargo-fuzz), e.g. `just fuzz trials_csv 600`
fuzz target seconds="60":
    fuzz/seed.sh
    cargo +nightly fuzz run --fuzz-dir fuzz {{ target }} -- -max_total_time={{ seconds }}

# Runs a tool if it is there, and says so if it is not.
_if-installed tool *args:
    #!/usr/bin/env bash
    set -euo pipefail
    if command -v {{ tool }} >/dev/null; then
        {{ tool }} {{ args }}
    else
        echo 'skipped: {{ tool }} is not installed'
    fi

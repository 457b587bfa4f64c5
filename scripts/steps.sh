# Steps of a check, for .ci/run and scripts/nightly: one line a step with its result and seconds.
# shellcheck shell=bash

# Compiled dependencies outlive the clone: the folders of cargo's output, below the user's cache unless the user has set one.
if [ -z "${CARGO_TARGET_DIR:-}" ]; then
    cache=${XDG_CACHE_HOME:-$HOME/.cache}/iophase
    export CARGO_TARGET_DIR=$cache/target
    FLEET_TARGET_DIR=$cache/fleet
else
    FLEET_TARGET_DIR=$CARGO_TARGET_DIR/fleet
fi
mkdir -p "$CARGO_TARGET_DIR" "$FLEET_TARGET_DIR"
# Two checks of one user take turns: each removes the crates of its own clone at its end.
exec 9>"$CARGO_TARGET_DIR/check.lock"
flock 9

# Nothing is edited between builds, and nobody reads a backtrace.
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 CARGO_TERM_COLOR=never

logs=$(mktemp -d)
passed=0 failed=0 failures=()

# The dependencies stay for the next check; crates of this clone would pile up, since their paths are part of their names.
clean_up() {
    cargo clean -q -p iophase 2>/dev/null || true
    CARGO_TARGET_DIR=$FLEET_TARGET_DIR cargo clean -q --manifest-path fleet/Cargo.toml -p iophase -p iophase-fleet 2>/dev/null || true
    rm -rf "$logs"
}
trap clean_up EXIT

# step NAME COMMAND...: runs a command; its output is shown if it fails. Other steps still run, so that one check shows all failures.
step() {
    local name=$1 log=$logs/$((passed + failed)) start=$SECONDS result
    shift
    if "$@" >"$log" 2>&1; then
        passed=$((passed + 1)) result=ok
    else
        failed=$((failed + 1)) result=FAILED failures+=("$name")
    fi
    printf '%-24s %-7s %5d s\n' "$name" "$result" $((SECONDS - start))
    grep -E '^test result:|^skipped: ' "$log" | sort | uniq -c | sort -rn | sed 's/^ *1 / /; s/^/   /' || true
    if [ "$result" = FAILED ]; then
        # what cargo compiles is no news
        grep -vE '^ +(Compiling|Checking|Downloaded|Downloading) |^test .* ok$' "$log" | tail -n 400
    fi
    return 0
}

# The end of a check: fails if a step has.
finish() {
    local name
    for name in "${failures[@]}"; do echo "failed: $name"; done
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}

# The main job, by a program that is built already: text, pictures and JSON of a real trace.
main_job() {
    local program=$1 out
    out=$logs/pictures
    "$program" analyze data/stable.darshan --svg "$out" >"$out.txt" &&
        grep 'write: periodic, every 2.000 s' "$out.txt" &&
        grep -q '<svg' "$out/stable.darshan.write.bandwidth.svg" && grep -q '<svg' "$out/stable.darshan.write.spectrum.svg" &&
        "$program" analyze data/stable.darshan --json "$out.json" -q && grep -q '"schema":"iophase.report.v1"' "$out.json"
}

# The crate of many logs. Clippy compiles what it checks, so that lints and tests share one build of the query engine.
fleet_checks() {
    cargo fmt --manifest-path fleet/Cargo.toml --check &&
        CARGO_TARGET_DIR=$FLEET_TARGET_DIR CLIPPY_ARGS=-Dwarnings RUSTC_WORKSPACE_WRAPPER=clippy-driver \
            cargo test --manifest-path fleet/Cargo.toml --no-fail-fast "$@"
}

# The Python module is only compiled; scripts/wheel builds and tests the package.
python_checks() {
    cargo fmt --manifest-path python/Cargo.toml --check &&
        cargo clippy --manifest-path python/Cargo.toml --all-targets -- -D warnings
}

# The hash of all that a crate beside the library is made of: its folder, the program that Python runs, and every item of the library it can name.
inputs_of() {
    local paths=("$1")
    [ "$1" = python ] && paths+=(src/cli)
    {
        scripts/public_api.py --signatures
        git ls-files -z --cached --others --exclude-standard -- "${paths[@]}" ":!$1/checked" | sort -z | xargs -0 sha256sum
    } | sha256sum | cut -d' ' -f1
}

# step_if_changed CRATE NAME COMMAND...: a step that is left out if CRATE/checked has the hash of the crate's inputs. The file is
# renewed when the step passes: commit it with the change. A missing or different hash means that the step runs.
step_if_changed() {
    local crate=$1 name=$2 hash before=$failed
    shift 2
    hash=$(inputs_of "$crate") || hash=unknown
    if [ "$hash" != unknown ] && [ "$hash" = "$(cat "$crate/checked" 2>/dev/null)" ]; then
        printf '%-24s %-7s\n' "$name" 'as checked'
        return
    fi
    step "$name" "$@"
    if [ "$failed" -eq "$before" ] && [ "$hash" != unknown ]; then echo "$hash" >"$crate/checked"; fi
}

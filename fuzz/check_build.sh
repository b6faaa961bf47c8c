#!/usr/bin/env bash
# Runs OSS-Fuzz's build checks on the output folder of build.sh, without Docker.
# Usage: fuzz/check_build.sh OUT [none|address]
set -euo pipefail

out=$(realpath "$1")
sanitizer=${2:-none}
# OSS-Fuzz moves the folder before it checks it, so no file may depend on the build path.
moved=$(mktemp -d)
trap 'rm -rf "$moved"' EXIT
cp -a "$out/." "$moved"
n_targets=0

fail() {
    echo "$1" >&2
    exit 1
}

for target in "$moved"/*; do
    [ -f "$target" ] && [ -x "$target" ] || continue
    head -c 4 "$target" | grep -q ELF || continue
    grep -q LLVMFuzzerTestOneInput "$target" || continue
    name=$(basename "$target")
    n_targets=$((n_targets + 1))
    options=()
    if [ -f "$target.options" ]; then
        head -n 1 "$target.options" | grep -qx '\[libfuzzer\]' || fail "$name: its options file does not begin with [libfuzzer]"
        while IFS='=' read -r key value; do
            options+=("-${key// /}=${value// /}")
        done < <(tail -n +2 "$target.options" | grep -v '^ *$')
    fi
    if [ -f "$target.dict" ]; then
        options+=("-dict=$target.dict")
    fi
    output=$(cd "$moved" && "$target" -seed=1337 -runs=4 ${options[@]+"${options[@]}"} 2>&1) || fail "$name: $output"
    grep -q 'Done 4 runs' <<<"$output" || fail "$name: it did not report 4 runs: $output"
    ! grep -q 'ERROR: no interesting inputs' <<<"$output" || fail "$name: it found no interesting inputs"
    edges=$(sed -n 's/.*(\([0-9]*\) inline 8-bit counters).*/\1/p' <<<"$output" | sort -n | tail -n 1)
    [ "${edges:-0}" -ge 100 ] || fail "$name: it has ${edges:-no} edges, expected at least 100"
    n_asan=$(objdump -d "$target" | grep -c 'call.*__asan' || true)
    if [ "$sanitizer" = address ]; then
        [ "$n_asan" -ge 1000 ] || fail "$name: it has $n_asan calls of ASan, expected at least 1000; was it built with ASan?"
    fi
    n_seeds=0
    if [ -f "$moved/${name}_seed_corpus.zip" ]; then
        mkdir "$moved/seeds-$name"
        unzip -q "$moved/${name}_seed_corpus.zip" -d "$moved/seeds-$name"
        n_seeds=$(find "$moved/seeds-$name" -type f | wc -l)
        [ "$n_seeds" -gt 0 ] || fail "$name: its seed corpus is empty"
        output=$("$target" -runs=0 "$moved/seeds-$name" 2>&1) || fail "$name: a seed fails: $output"
    fi
    echo "$name: $edges edges, $n_asan calls of ASan, $n_seeds seeds"
done
[ "$n_targets" -gt 0 ] || fail "no fuzz target is in $out"
echo "all $n_targets targets passed"

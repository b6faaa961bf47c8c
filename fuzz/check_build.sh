#!/usr/bin/env bash
# Holds what build.sh has left in a folder to what OSS-Fuzz's check of a build asks of it, without Docker.
# Usage: fuzz/check_build.sh OUT [none|address]
set -euo pipefail

out=$(realpath "$1")
sanitizer=${2:-none}
# OSS-Fuzz moves the folder before it looks: nothing may know where it was built.
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
        head -n 1 "$target.options" | grep -qx '\[libfuzzer\]' || fail "$name: its options do not begin with [libfuzzer]"
        while IFS='=' read -r key value; do
            options+=("-${key// /}=${value// /}")
        done < <(tail -n +2 "$target.options" | grep -v '^ *$')
    fi
    if [ -f "$target.dict" ]; then
        options+=("-dict=$target.dict")
    fi
    said=$(cd "$moved" && "$target" -seed=1337 -runs=4 ${options[@]+"${options[@]}"} 2>&1) || fail "$name: $said"
    grep -q 'Done 4 runs' <<<"$said" || fail "$name: it does not say that it has done 4 runs: $said"
    ! grep -q 'ERROR: no interesting inputs' <<<"$said" || fail "$name: no input is interesting"
    edges=$(sed -n 's/.*(\([0-9]*\) inline 8-bit counters).*/\1/p' <<<"$said" | sort -n | tail -n 1)
    [ "${edges:-0}" -ge 100 ] || fail "$name: it has ${edges:-no} edges, and 100 are wanted"
    n_asan=$(objdump -d "$target" | grep -c 'call.*__asan' || true)
    if [ "$sanitizer" = address ]; then
        [ "$n_asan" -ge 1000 ] || fail "$name: it is not built with ASan: $n_asan calls"
    fi
    n_seeds=0
    if [ -f "$moved/${name}_seed_corpus.zip" ]; then
        mkdir "$moved/seeds-$name"
        unzip -q "$moved/${name}_seed_corpus.zip" -d "$moved/seeds-$name"
        n_seeds=$(find "$moved/seeds-$name" -type f | wc -l)
        [ "$n_seeds" -gt 0 ] || fail "$name: its seed corpus is empty"
        said=$("$target" -runs=0 "$moved/seeds-$name" 2>&1) || fail "$name: a seed fails: $said"
    fi
    echo "$name: $edges edges, $n_asan calls of ASan, $n_seeds seeds"
done
[ "$n_targets" -gt 0 ] || fail "no fuzz target is in $out"
echo "$n_targets targets are as they should be"

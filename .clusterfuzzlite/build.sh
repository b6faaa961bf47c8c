#!/bin/bash -eu
# Builds every fuzz target into $OUT, each with its seeds, dictionary and options, as OSS-Fuzz and ClusterFuzzLite want it.
# Also runs without Docker, from the checkout: SRC=.. OUT=out SANITIZER=none .clusterfuzzlite/build.sh

cd "${PROJECT_DIR:-$SRC/brickbat}"
mkdir -p "$OUT"
OUT=$(realpath "$OUT")

# Coverage is measured by flags that the caller has set; there is no sanitizer of that name.
case "${SANITIZER:-address}" in
    coverage) sanitizer=none ;;
    *) sanitizer=${SANITIZER:-address} ;;
esac
# A target is known by its symbols, and a stack trace needs them.
export CARGO_PROFILE_RELEASE_STRIP=none
# A sanitizer needs a nightly toolchain, as OSS-Fuzz has one; stable builds with SANITIZER=none.
build=${WORK:-$PWD/target}/fuzz-build
triple=$(rustc -vV | sed -n 's/^host: //p')
cargo fuzz build -O --debug-assertions --codegen-units 16 --sanitizer "$sanitizer" --target-dir "$build"

# The seeds are made from the scenarios and vectors of the checkout, by a program that is no fuzz target: without the flags.
seeds=$build/seeds
rm -rf "$seeds"
RUSTFLAGS="" cargo run --quiet --release --target-dir "$build/plain" -p brickbat-fuzz --example seeds -- "$seeds"

for target in $(cargo fuzz list); do
    cp "$build/$triple/release/$target" "$OUT/$target"
    if [ -d "$seeds/$target" ]; then
        rm -f "$OUT/${target}_seed_corpus.zip"
        (cd "$seeds/$target" && find . -type f | LC_ALL=C sort | zip -q -X -@ "$OUT/${target}_seed_corpus.zip")
    fi
    if [ -f "fuzz/fuzz_targets/$target.dict" ]; then
        cp "fuzz/fuzz_targets/$target.dict" "$OUT/$target.dict"
    fi
    { echo "[libfuzzer]"; sed -n "s/^$target  *//p" fuzz/options | tr ' ' '\n' | sed 's/=/ = /'; } >"$OUT/$target.options"
done

#!/usr/bin/env bash
# tests/tools/run_clang_tidy.sh - the checks of .clang-tidy over the C++ files
# that differ from a commit (by default the one before the last), or over all.
#
#     tests/tools/run_clang_tidy.sh BUILD_FOLDER [COMMIT | --all]
set -euo pipefail
cd "$(dirname "$0")/../.."
# A source at a time, whatever is compiled together.
folder=$1/taken_apart
"${PYTHON:-python3}" tests/tools/compile_commands.py "$1" "$folder"
base=${2:-HEAD~1}
rooms=(command compiler formulas python_bindings runtime)
# What is of another architecture or system is not compiled here.
compiled() {
    grep '\.cpp$' | grep -Fx -f <(sed -n "s|^ *\"file\": \"$PWD/\(.*\)\",*|\1|p" \
        "$folder/compile_commands.json") || true
}

if [ "$base" = --all ] || ! git rev-parse --verify --quiet "$base" >/dev/null; then
    mapfile -t files < <(git ls-files -- "${rooms[@]}" | compiled)
else
    mapfile -t files < <(git diff --name-only --diff-filter=d "$base" -- \
        "${rooms[@]}" | compiled)
fi
[ ${#files[@]} -gt 0 ] || { echo "no C++ file has changed"; exit 0; }
printf '%s\n' "${files[@]}" |
    # Options are those of g++; clang does not know all of them.
    xargs -P "$(nproc)" -n 4 clang-tidy-22 -p "$folder" --quiet \
        --extra-arg=-Wno-unknown-warning-option
echo "${#files[@]} files passed"

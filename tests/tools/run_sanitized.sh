#!/usr/bin/env bash
# tests/tools/run_sanitized.sh - the C++ tests under sanitizers, in builds of
# their own.
#
#     run_sanitized.sh            of addresses and undefined behaviour
#     run_sanitized.sh COMMIT     of what has changed since then, and what is
#                                 made of it
#     run_sanitized.sh --threads  of threads: tests of the runtime and of C
set -euo pipefail
cd "$(dirname "$0")/../.."

# Configures in a folder, with a value of -fsanitize=, and what else is said.
configure() {
    cmake -G Ninja -S . -B "$1" -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" -DTILEFOLD_SANITIZE="$2" \
        -DTILEFOLD_TESTS=ON -DTILEFOLD_PYTHON=OFF -DCMAKE_UNITY_BUILD=ON \
        "${@:3}"
}

# Left out are tests that fork a parent with threads, as below.
if [ "${1:-}" = --threads ]; then
    folder=build/threads
    configure "$folder" thread
    cmake --build "$folder" --target test_c test_runtime
    export TSAN_OPTIONS="suppressions=$PWD/tests/tools/thread_sanitizer.txt"
    "$folder/bin/test_c" --gtest_brief=1 --gtest_filter='-*AChild*'
    exec "$folder/bin/test_runtime" --gtest_brief=1 --gtest_filter='-ProcessTest.*:ThreadPool.AChild*:ThreadPool.AFork*:*AResultThatDoesNotFit*'
fi

# Folders of tests, and what each of them runs: a room and all to its left.
folders=(c compiler cuda formulas fuzz numerics runtime)
declare -A rooms=(
    [c]="formulas compiler runtime include"
    [compiler]="formulas compiler"
    [cuda]="formulas compiler runtime"
    [formulas]="formulas"
    [fuzz]="formulas compiler runtime"
    [numerics]="formulas compiler"
    [runtime]="formulas compiler runtime"
)
declare -A programs=(
    [c]="test_c"
    [compiler]="test_compiler"
    [cuda]="test_cuda"
    [formulas]="test_formulas"
    [fuzz]="fuzz_language fuzz_bytes"
    [numerics]="test_numerics"
    [runtime]="test_runtime"
)
changed=()
targets=()
for name in "${folders[@]}"; do
    read -ra sources <<<"${rooms[$name]} tests/$name CMakeLists.txt"
    if [ -n "${1:-}" ] && git diff --quiet "$1" -- "${sources[@]}"; then
        continue
    fi
    changed+=("$name")
    read -ra built <<<"${programs[$name]}"
    targets+=("${built[@]}")
done
[ ${#changed[@]} -gt 0 ] || {
    echo "nothing of C++ has changed since $1: 0 tests passed"
    exit 0
}

folder=build/sanitized
configure "$folder" address,undefined \
    -DCMAKE_CXX_FLAGS=-fno-sanitize-recover=all
cmake --build "$folder" --target "${targets[@]}"

# Kernel images are written by hand to executable pages and end with their
# process; forked children leave what their parents own.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1
# Left out are tests that fork a parent with threads, since the allocator of
# g++ 12's address sanitizer may be locked at the fork, and then is in the child
# for ever; the one of a result for which there is no memory, since its `new`
# ends the process there; and what generated code computes, which sanitizers do
# not see: the same formulas are compiled by compiled_formulas and CudaText. All
# of them run without sanitizers.
forks='ProcessTest\.|ThreadPool\.A(Child|Fork)|CThreads\.AChild'
memory='SessionTest\.AResultThatDoesNotFitIsRefused$'
generated='numerics_|Emitted\.|CudaMutations\.|Nvrtc\.'
# Of a sample, a third of the tests.
part=()
if [ "${TILEFOLD_SAMPLE:-all}" != all ]; then
    number=$(cksum <<<"$TILEFOLD_SAMPLE" | cut -d ' ' -f 1)
    part=(--tests-information "$((number % 3 + 1)),,3")
fi
for name in "${changed[@]}"; do
    ctest "${part[@]}" --test-dir "$folder/tests/$name" --output-on-failure \
        --parallel "$(nproc)" --exclude-regex "^($forks|$memory|$generated)"
done

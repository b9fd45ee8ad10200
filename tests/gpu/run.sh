#!/usr/bin/env bash
# tests/gpu/run.sh - everything that needs a card: the language against NumPy,
# tensors of PyTorch where it finds the card, then a few cases again under
# compute-sanitizer. Ends with 0 where there is no card. Results are JSON in
# build/gpu.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
export PATH="$PWD/.venv/bin:$PATH"

folder=build/gpu
mkdir -p "$folder"
python -m bench.card
case $? in
    0) ;;
    3) exit 0 ;; # there is no card, which has been said
    *) exit 1 ;;
esac

failures=0
python tests/gpu/run.py --output "$folder/results.json" "$@" || failures=1
python -m pytest -q -n 8 tests/gpu || failures=1

sanitizer=$(command -v compute-sanitizer || true)
for folder_of_cuda in "${CUDA_HOME:-}" "${CONDA_PREFIX:-}" /usr/local/cuda; do
    if [ -z "$sanitizer" ] && [ -x "$folder_of_cuda/bin/compute-sanitizer" ]
    then
        sanitizer=$folder_of_cuda/bin/compute-sanitizer
    fi
done
if [ -z "$sanitizer" ]; then
    echo "no compute-sanitizer: memcheck and racecheck were left out"
    exit "$failures"
fi
for tool in memcheck racecheck; do
    if "$sanitizer" --tool "$tool" --error-exitcode 9 --log-file \
        "$folder/$tool.log" python tests/gpu/run.py --cases 40 \
        --output "$folder/$tool.json"; then
        echo "ok    $tool"
    else
        echo "FAIL  $tool: $folder/$tool.log"
        failures=1
    fi
done
exit "$failures"

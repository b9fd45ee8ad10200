# scripts/packaging/packages.sh - Debian's packages, by what takes them; scripts
# that install some source it at the root of a checkout.
# shellcheck shell=bash disable=SC2034

# The package is built of these; in another system they have other names.
packages_of_build=(
    cmake
    g++
    libboost-dev
    libeigen3-dev
    libsleef-dev
    libutf8proc-dev
    libxxhash-dev
    libzstd-dev
    llvm-22-dev
    ninja-build
    nlohmann-json3-dev
    zlib1g-dev
)
# Kernels for AArch64 run under the emulator.
packages_of_arm64=(
    g++-aarch64-linux-gnu
    qemu-user
)
# Fortran, R, Rust and Clang compile programs of examples/c.
packages_of_tests=(
    "${packages_of_arm64[@]}"
    ccache
    clang-22
    clang-format-22
    clang-tidy-22
    gfortran
    libcli11-dev
    libgtest-dev
    make
    pkg-config
    r-base-core
    rustc
    shellcheck
    strace
)
packages_of_macos=(
    ccache
    clang-22
    libcli11-dev
    lld-22
)

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "$0: need root or sudo for: $*" >&2
        return 1
    fi
}

# The names of those that are not installed.
missing_packages() {
    local name
    for name in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = \
            installed ] || echo "$name"
    done
}

# Installs packages; where all are there, no package list is fetched.
install_packages() {
    local missing
    mapfile -t missing < <(missing_packages "$@")
    [ ${#missing[@]} -gt 0 ] || return 0
    as_root apt-get update &&
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y \
            --no-install-recommends "${missing[@]}"
}

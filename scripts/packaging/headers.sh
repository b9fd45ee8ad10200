# scripts/packaging/headers.sh - headers that a build takes of Python's wheels;
# scripts that cross-compile source it, and name what CMake would look for.
# shellcheck shell=bash

# The folder `$2` of the wheels of an environment, which has the header `$3`.
header_folder() {
    local found
    for found in "$1"/lib/python3.*/site-packages/"$2"; do
        if [ -e "$found/$3" ]; then
            echo "$found"
            return
        fi
    done
    echo "$0: no wheel in $1 has $2/$3" >&2
    return 1
}

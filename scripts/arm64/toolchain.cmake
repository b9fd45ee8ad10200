# scripts/arm64/toolchain.cmake - cross-compiles for AArch64 Linux against the
# folder of Debian's arm64 packages that scripts/setup-arm64 makes.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH TILEFOLD_ARM64_SCRIPTS)
cmake_path(GET TILEFOLD_ARM64_SCRIPTS PARENT_PATH TILEFOLD_ARM64_ROOT)
set(CMAKE_SYSROOT ${TILEFOLD_ARM64_ROOT}/build/arm64/sysroot)
# What runs while it builds is of this machine, all else of the folder.
set(CMAKE_FIND_ROOT_PATH ${CMAKE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
# Tests are found and run by the emulator. Loader and libc are of the same
# package: mixed, pthread_create waits for ever.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64;-L;${CMAKE_SYSROOT})

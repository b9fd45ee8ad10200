# scripts/macos/toolchain.cmake - cross-compiles for macOS on arm64 by Zig, in
# the folder that scripts/compile-macos makes.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH TILEFOLD_MACOS_SCRIPTS)
cmake_path(GET TILEFOLD_MACOS_SCRIPTS PARENT_PATH TILEFOLD_MACOS_CHECKOUT)
set(TILEFOLD_MACOS_ROOT ${TILEFOLD_MACOS_CHECKOUT}/build/macos)
set(CMAKE_C_COMPILER ${TILEFOLD_MACOS_ROOT}/bin/cc)
set(CMAKE_CXX_COMPILER ${TILEFOLD_MACOS_ROOT}/bin/c++)
# Zig knows where its headers are.
set(CMAKE_OSX_SYSROOT "")
foreach(tool AR RANLIB NM INSTALL_NAME_TOOL)
  string(TOLOWER llvm-${tool} program)
  string(REPLACE _ - program ${program})
  set(CMAKE_${tool} /usr/lib/llvm-22/bin/${program})
endforeach()
# What runs while it builds is of this machine; headers are of the folder.
set(CMAKE_FIND_ROOT_PATH ${TILEFOLD_MACOS_ROOT}/prefix)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)

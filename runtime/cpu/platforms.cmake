# runtime/cpu/platforms.cmake - of which machines tilefold is, by what CMake
# knows of the one that is built for: sets TILEFOLD_ARCHITECTURE and
# TILEFOLD_SYSTEM, the folders of runtime/cpu and runtime/system that are
# compiled, or ends with a sentence.
#
# TILEFOLD_LIBC is "glibc" or another; it is asked on Linux.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  set(TILEFOLD_ARCHITECTURE x86_64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(TILEFOLD_ARCHITECTURE aarch64)
else()
  message(FATAL_ERROR "tilefold is of x86-64 and AArch64, not of "
    "'${CMAKE_SYSTEM_PROCESSOR}': runtime/cpu has no folder for it")
endif()
if(NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
  message(FATAL_ERROR "tilefold is of 64 bits: use a compiler, and a Python, "
    "of 64 bits")
endif()
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  if(NOT TILEFOLD_LIBC STREQUAL "glibc")
    message(FATAL_ERROR "tilefold is of Linux with glibc 2.28 or later, and "
      "this one has another C library: use an image of Debian, Ubuntu or "
      "Fedora in the place of Alpine's")
  endif()
  set(TILEFOLD_SYSTEM linux)
elseif(CMAKE_SYSTEM_NAME STREQUAL "Darwin")
  if(NOT TILEFOLD_ARCHITECTURE STREQUAL "aarch64")
    message(FATAL_ERROR "tilefold is of Macs with Apple silicon, and this one "
      "has a processor of Intel: use Linux on it, in a container")
  endif()
  set(TILEFOLD_SYSTEM macos)
else()
  message(FATAL_ERROR "tilefold is of Linux and macOS, not of "
    "'${CMAKE_SYSTEM_NAME}': on Windows, use its subsystem for Linux")
endif()

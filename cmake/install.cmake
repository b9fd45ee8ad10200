# cmake/install.cmake - what is installed, in three components:
#   runtime      the libraries, the licence
#   development  headers, the CMake package, the file of pkg-config
#   python       the Python package's folder: its module, the compiler's library
#                and all of the above; of a wheel alone, which has no links
include(CMakePackageConfigHelpers)

add_library(tilefold::tilefold ALIAS tilefold) # for add_subdirectory
set(headers
  include/tilefold/arrays.hpp
  include/tilefold/tilefold.h
  include/tilefold/tilefold.hpp
  ${PROJECT_BINARY_DIR}/include/tilefold/version.h)
set(dlpack_header ${DLPACK_INCLUDE_DIR}/dlpack/dlpack.h)

# Installs the files below a prefix that others need to build with the library.
# `flags`: how pkg-config links it.
function(tilefold_install_development prefix libdir includedir flags)
  set(package ${libdir}/cmake/tilefold)
  set(made ${PROJECT_BINARY_DIR}/package/${prefix})
  set(arguments ${ARGN}) # of install(), such as the component
  install(FILES ${headers}
    DESTINATION ${prefix}${includedir}/tilefold ${arguments})
  install(FILES ${dlpack_header}
    DESTINATION ${prefix}${includedir}/dlpack ${arguments})
  set(CMAKE_INSTALL_INCLUDEDIR ${includedir})
  set(CMAKE_INSTALL_LIBDIR ${libdir})
  configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/tilefoldConfig.cmake.in
    ${made}/tilefoldConfig.cmake
    INSTALL_DESTINATION ${package}
    NO_CHECK_REQUIRED_COMPONENTS_MACRO)
  write_basic_package_version_file(${made}/tilefoldConfigVersion.cmake
    COMPATIBILITY SameMajorVersion)
  install(
    FILES ${made}/tilefoldConfig.cmake ${made}/tilefoldConfigVersion.cmake
    DESTINATION ${prefix}${package} ${arguments})
  # The prefix as seen from the file: what is moved still works.
  file(RELATIVE_PATH prefix_from_pc /${libdir}/pkgconfig /)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/tilefold.pc.in
    ${made}/tilefold.pc @ONLY)
  install(FILES ${made}/tilefold.pc
    DESTINATION ${prefix}${libdir}/pkgconfig ${arguments})
endfunction()

install(TARGETS tilefold EXPORT tilefoldTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT runtime NAMELINK_COMPONENT development
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT tilefoldTargets NAMESPACE tilefold::
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tilefold COMPONENT development)
tilefold_install_development(
  "" ${CMAKE_INSTALL_LIBDIR} ${CMAKE_INSTALL_INCLUDEDIR} "-ltilefold"
  COMPONENT development)
install(FILES README.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
# With those of what is linked into the libraries.
install(FILES LICENSE third_party.def
  DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/tilefold COMPONENT runtime)
install(DIRECTORY licenses/
  DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/tilefold COMPONENT runtime
  FILES_MATCHING PATTERN "*.txt")
if(TARGET tilefold_llvm)
  install(TARGETS tilefold_llvm
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tilefold COMPONENT runtime)
endif()

if(TARGET tilefold_core)
  if(TILEFOLD_SYSTEM STREQUAL "macos")
    set(library libtilefold.1.dylib)
    set(soname "@rpath/${library}")
    set(link_flags -ltilefold.1)
  else()
    set(library libtilefold.so.1)
    set(soname ${library})
    set(link_flags -l:${library})
  endif()
  install(TARGETS tilefold_core tilefold_llvm
    LIBRARY DESTINATION tilefold COMPONENT python EXCLUDE_FROM_ALL)
  install(PROGRAMS $<TARGET_FILE:tilefold> RENAME ${library}
    DESTINATION tilefold/lib COMPONENT python EXCLUDE_FROM_ALL)
  tilefold_install_development(tilefold/ lib include "${link_flags}"
    COMPONENT python EXCLUDE_FROM_ALL)
  configure_file(cmake/wheel/tilefoldTargets.cmake.in
    ${PROJECT_BINARY_DIR}/package/wheel/tilefoldTargets.cmake @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/wheel/tilefoldTargets.cmake
    DESTINATION tilefold/lib/cmake/tilefold COMPONENT python EXCLUDE_FROM_ALL)
endif()

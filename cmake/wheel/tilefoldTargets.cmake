# cmake/wheel/tilefoldTargets.cmake - the library of a Python package, whose
# folder has no links: lib/libtilefold.so.1, seen from lib/cmake/tilefold.
if(NOT TARGET tilefold::tilefold)
  get_filename_component(folder "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
  add_library(tilefold::tilefold SHARED IMPORTED)
  set_target_properties(tilefold::tilefold PROPERTIES
    IMPORTED_LOCATION "${folder}/lib/libtilefold.so.1"
    IMPORTED_SONAME libtilefold.so.1
    INTERFACE_INCLUDE_DIRECTORIES "${folder}/include")
endif()

# compiler/sources_hash.cmake - writes HEADER with a hash over the names and
# contents of all files under FOLDER.
file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE ${FOLDER} ${FOLDER}/*)
list(SORT files)
set(text "")
foreach(name IN LISTS files)
  file(SHA256 ${FOLDER}/${name} hash)
  string(APPEND text "${name} ${hash}\n")
endforeach()
string(SHA256 all "${text}")
file(WRITE ${HEADER}
"// The sources of compiler/, as a hash; written by sources_hash.cmake.
#pragma once
#define TILEFOLD_SOURCES_HASH \"${all}\"
")

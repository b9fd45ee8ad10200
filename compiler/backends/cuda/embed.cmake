# compiler/backends/cuda/embed.cmake - writes a header that holds files of device
# code as text: -DSOURCES=… -DHEADER=…

set(text "// generated from *.cuh\n#pragma once\n#include <string_view>\n")
string(APPEND text "namespace tilefold::cuda::device {\n")
foreach(source IN LISTS SOURCES)
  get_filename_component(name ${source} NAME_WE)
  file(READ ${source} code)
  # The first comment is for readers of the file.
  string(FIND "${code}" "\n\n" start)
  string(SUBSTRING "${code}" ${start} -1 code)
  string(APPEND text
    "inline constexpr std::string_view ${name} = R\"cuda(${code})cuda\";\n")
endforeach()
string(APPEND text "} // namespace tilefold::cuda::device\n")
file(WRITE ${HEADER} "${text}")

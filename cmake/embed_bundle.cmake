# Writes the files of FILES as bytes into OUT, for src/serve/assets.h.
#   cmake -DFILES="index.html;app.js" -DOUT=bundle.cpp -P embed_bundle.cmake
set(arrays "")
set(table "")
set(number 0)
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(TOLOWER "${text}" text)
  if(NOT name STREQUAL "index.html" AND text MATCHES "</script|</style|<!--")
    message(FATAL_ERROR "${name} holds ${CMAKE_MATCH_0}, which would end it in a report file")
  endif()
  file(READ ${file} bytes HEX)
  string(LENGTH "${bytes}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "constexpr unsigned char kFile${number}[] = {${bytes}0};\n")
  string(APPEND table "      {\"${name}\", {reinterpret_cast<const char*>(kFile${number}), ${size}}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUT} "// Made from the files of web/bundle.
#include \"serve/assets.h\"

namespace stepscope::serve {
namespace {

${arrays}
}  // namespace

std::span<const EmbeddedFile> embedded_files() {
  static const EmbeddedFile kFiles[] = {
${table}  };
  return kFiles;
}

}  // namespace stepscope::serve
")

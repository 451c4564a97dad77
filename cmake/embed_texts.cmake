# Writes the Markdown files of FILES as constants stepscope::texts::NAME into OUT.h and OUT.cpp.
#   cmake -DFILES="a.md;b.md" -DOUT=folder/texts -P embed_texts.cmake
set(header "// Made from the analyses' Markdown files.\n#pragma once\n\n#include <string_view>\n\nnamespace stepscope::texts {\n\n")
set(source "#include \"analyze/texts.h\"\n\nnamespace stepscope::texts {\n\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(REGEX REPLACE "\n$" "" text "${text}")
  string(APPEND header "extern const std::string_view ${name};\n")
  string(APPEND source "const std::string_view ${name} = R\"text(${text})text\";\n")
endforeach()
file(WRITE ${OUT}.h "${header}\n}  // namespace stepscope::texts\n")
file(WRITE ${OUT}.cpp "${source}\n}  // namespace stepscope::texts\n")

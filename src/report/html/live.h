// The page of scripts that takes the place of the static one on the screen, in the same file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepscope::report {

/// Bytes that the script reads, under an id.
struct Block {
  std::string id;
  std::string base64;
};

struct Live {
  std::string_view style, script;  ///< hold neither "</" of their element nor "<!--"
  std::vector<Block> blocks;
  std::vector<std::string> notes;  ///< sentences about the file, shown below the static page
};

}  // namespace stepscope::report

// The page's files, which are built into the program, under names that hold a hash of their contents.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "serve/request.h"

namespace stepscope::serve {

struct EmbeddedFile {
  std::string_view name;  ///< e.g. "app.js"
  std::string_view bytes;
};
/// The files of web/bundle.
std::span<const EmbeddedFile> embedded_files();

class Assets {
 public:
  /// index.html names the others as assets/NAME; there NAME gets its hash.
  explicit Assets(std::span<const EmbeddedFile> files);

  const Response& page() const { return page_; }
  /// nullptr if there is no such asset.
  const Response* named(std::string_view name) const;

 private:
  Response page_;
  std::map<std::string, Response, std::less<>> assets_;
};

}  // namespace stepscope::serve

// `stepscope serve`: the page over HTTP, from start to end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace stepscope::serve {

struct Options {
  std::vector<std::string> paths;
  std::string bind = "";  ///< "": the loopback
  std::uint16_t port = 0;
  std::vector<std::string> allowed_hosts{};
  std::string base = "/";
  std::string source_root = "";  ///< "": no source is shown
  bool asks_token = true;
  /// Another program starts the server and shows the page in a frame of its own origin: the page may be
  /// framed there, and the server ends with the end of standard input.
  bool is_embedded = false;
  /// Called with the address, once it can be opened.
  std::function<void(const std::string& address, std::size_t runs)> began;
  /// Called when no request is answered any more. `is_idle`: no answer is being computed; else serve()
  /// returns when those are, which nobody awaits: the caller may end the process instead.
  std::function<void(bool is_idle)> ended;
  /// Called from several threads after each answer; may be empty.
  std::function<void(const std::string& line)> log;
};

/// Serves until SIGINT or SIGTERM; embedded, also until the end of standard input. An Error if it cannot
/// begin.
std::optional<Error> serve(const Options& options);

}  // namespace stepscope::serve

// Opens an address with a secret in the user's browser.
#pragma once

#include <string>

namespace stepscope::cli {

/// A file that only this user can read, which leads the browser to the address. Arguments of a program can be
/// seen by everybody on the machine. Removed with this object.
class Redirection {
 public:
  /// Writes the file and starts xdg-open. Says on stderr if that fails.
  explicit Redirection(const std::string& address);
  Redirection(const Redirection&) = delete;
  Redirection& operator=(const Redirection&) = delete;
  ~Redirection();

 private:
  std::string path_;  ///< "" if it could not be written
};

}  // namespace stepscope::cli

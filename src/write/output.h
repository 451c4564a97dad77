// Standard output or a file. If the reader goes away (`| head`), the output ends quietly. A full disk is an
// error; the previous file of that name is then kept.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stepscope::write {

/// The file that a path leads to, and the name of the temporary file that is written first.
struct Place {
  std::string path, part;
};

/// For a regular file that exists or not. An Error for a device, a pipe, a file without write permission, or
/// a dangling link: these cannot be replaced by a new file.
Result<Place> place_of(const std::string& path);

class Output {
 public:
  /// `path` "" or "-": standard output.
  static Result<Output> open(const std::string& path);
  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output();

  /// False: nobody reads any more. After an error, the rest of the output is dropped.
  bool write(std::string_view bytes);
  /// Gives a regular file its name, replacing any previous file. Returns the first error, if any. Call it
  /// once, at the end; without it, the previous file stays.
  std::optional<Error> finish();

 private:
  Output(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  int descriptor_;
  std::string path_;   ///< "" for standard output
  std::string part_;   ///< temporary name; "" if the file is written in place
  bool named_ = true;  ///< false: the file gets its name in finish()
  int error_ = 0;
  bool closed_early_ = false;
};

}  // namespace stepscope::write

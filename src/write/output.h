// Standard output or a file. A reader that went away (`| head`) ends the output quietly; a full disk is an
// error, after which the file that was there before is still there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stepscope::write {

/// Where a path leads, and what stands there until it is whole.
struct Place {
  std::string path, part;
};

/// Of a regular file that is there or not. An Error where only writing in place would do: a device, a pipe, a
/// file that must not be written, a link to nothing.
Result<Place> place_of(const std::string& path);

class Output {
 public:
  /// "" and "-" are standard output.
  static Result<Output> open(const std::string& path);
  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output();

  /// False when nobody reads any more. After a failure the rest is dropped.
  bool write(std::string_view bytes);
  /// Gives a regular file its name, in place of the one that had it. What went wrong, if anything. Call it
  /// once, at the end; without it nothing takes the name.
  std::optional<Error> finish();

 private:
  Output(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  int descriptor_;
  std::string path_;   ///< "" for standard output
  std::string part_;   ///< the name until it is whole; "" where it is written in place
  bool named_ = true;  ///< false: the name is given at the end
  int error_ = 0;
  bool closed_early_ = false;
};

}  // namespace stepscope::write

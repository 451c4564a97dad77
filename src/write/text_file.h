// A text that is written piece by piece, compressed if the file's name ends in .gz.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/gzip.h"
#include "base/result.h"
#include "write/output.h"

namespace stepscope::write {

class TextFile {
 public:
  static Result<TextFile> open(const std::string& target) {
    auto output = Output::open(target);
    if (!output) return output.error();
    return TextFile(std::move(*output), target.ends_with(".gz"));
  }
  /// False: nobody reads any more.
  bool add(std::string_view piece) {
    if (!gzip_) return output_.write(piece);
    text_ += piece;
    return text_.size() < kMember || pass_on();
  }
  /// Completes the file and gives it its name.
  std::optional<Error> finish() {
    pass_on();
    return output_.finish();
  }

 private:
  static constexpr std::size_t kMember = std::size_t{4} << 20;  // bytes that are compressed together

  TextFile(Output output, bool gzip) : output_(std::move(output)), gzip_(gzip) {}
  bool pass_on() {
    const bool more = text_.empty() || output_.write(gzip_member(text_));
    text_.clear();
    return more;
  }

  Output output_;
  bool gzip_;
  std::string text_;
};

}  // namespace stepscope::write

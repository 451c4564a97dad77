// A text that is written piece by piece, compressed where the file's name ends in .gz.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/gzip_member.h"
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
  /// False: nobody reads it any more.
  bool add(std::string_view piece) {
    if (!gzip_) {
      output_.write(piece);
      return !output_.closed_early();
    }
    text_ += piece;
    if (text_.size() >= kMember) pass_on();
    return !output_.closed_early();
  }
  /// The file is at its place now, whole.
  std::optional<Error> finish() {
    pass_on();
    return output_.finish();
  }

 private:
  static constexpr std::size_t kMember = std::size_t{4} << 20;  // bytes that are compressed together

  TextFile(Output output, bool gzip) : output_(std::move(output)), gzip_(gzip) {}
  void pass_on() {
    if (!text_.empty()) output_.write(gzip_member(text_));
    text_.clear();
  }

  Output output_;
  bool gzip_;
  std::string text_;
};

}  // namespace stepscope::write

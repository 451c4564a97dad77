// A text that is written piece by piece, compressed if the file's name ends in .gz.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/deflate.h"
#include "base/gzip.h"
#include "base/result.h"
#include "write/output.h"

namespace stepscope::write {

/// Many members are written faster; tools that index gzip by themselves often read only the first.
enum class Members : std::uint8_t { many, one };

class TextFile {
 public:
  static Result<TextFile> open(const std::string& target, Members members = Members::many) {
    auto output = Output::open(target);
    if (!output) return output.error();
    return TextFile(std::move(*output), target.ends_with(".gz"), members);
  }
  /// False: nobody reads any more.
  bool add(std::string_view piece) {
    if (one_) return output_.write(one_->add(piece));
    if (!gzip_) return output_.write(piece);
    text_ += piece;
    return text_.size() < kMember || pass_on();
  }
  /// Completes the file and gives it its name.
  std::optional<Error> finish() {
    if (one_) output_.write(one_->finish());
    pass_on();
    return output_.finish();
  }

 private:
  static constexpr std::size_t kMember = std::size_t{4} << 20;  // bytes that are compressed together

  static constexpr int kLevel = 4;  // of one member

  TextFile(Output output, bool gzip, Members members) : output_(std::move(output)), gzip_(gzip) {
    if (gzip && members == Members::one) one_.emplace(kLevel);
  }
  bool pass_on() {
    const bool more = text_.empty() || output_.write(gzip_member(text_));
    text_.clear();
    return more;
  }

  Output output_;
  bool gzip_;
  std::optional<GzipStream> one_;
  std::string text_;
};

}  // namespace stepscope::write

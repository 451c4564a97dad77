// Another tool's lines, turned into a text of ours while it is read.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/byte_source.h"

namespace stepscope::read {

class LineText : public ByteSource {
 public:
  explicit LineText(std::unique_ptr<ByteSource> file);

  std::size_t read(char* out, std::size_t size) final;
  std::int64_t position() const final { return file_->position(); }

 protected:
  /// A line of the file, without its end. Adds its bytes to `read_` last.
  virtual void line(std::string_view text) = 0;
  /// After the last line.
  virtual void finish() = 0;

  /// Reads some lines.
  void step();
  bool has_ended() const { return ended_; }

  std::string text_;       ///< made, and not yet read
  std::int64_t read_ = 0;  ///< bytes of the lines that were taken

 private:
  static constexpr std::size_t kLongest = std::size_t{1} << 20;  // bytes of a line

  std::unique_ptr<ByteSource> file_;
  std::string lines_;
  std::size_t at_ = 0;  // in `text_`
  bool ended_ = false;
};

}  // namespace stepscope::read

#include "read/line_text.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace stepscope::read {

LineText::LineText(std::unique_ptr<ByteSource> file) : file_(std::move(file)) {
  stored_size = file_->stored_size;
  compressed = file_->compressed;
  reopens = file_->reopens;
}

std::size_t LineText::read(char* out, std::size_t size) {
  while (at_ == text_.size() && !ended_) {
    text_.clear();
    at_ = 0;
    step();
  }
  const std::size_t taken = std::min(size, text_.size() - at_);
  std::memcpy(out, text_.data() + at_, taken);
  at_ += taken;
  return taken;
}

void LineText::step() {
  char piece[1U << 16];
  const std::size_t count = file_->read(piece, sizeof piece);
  take_faults(*file_);
  lines_.append(piece, count);
  std::size_t begin = 0;
  for (std::size_t end; (end = lines_.find('\n', begin)) != std::string::npos; begin = end + 1)
    line(std::string_view(lines_).substr(begin, end - begin));
  lines_.erase(0, begin);
  if (lines_.size() > kLongest) {
    const auto length = static_cast<std::int64_t>(lines_.size());
    add_fault(read_, "a line is longer than 1 MiB", length);
    read_ += length;
    lines_.clear();
  }
  if (count > 0) return;
  if (!lines_.empty()) line(lines_);
  finish();
  ended_ = true;
}

}  // namespace stepscope::read

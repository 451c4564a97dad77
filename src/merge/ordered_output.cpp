#include "merge/ordered_output.h"

#include "base/gzip.h"

namespace stepscope::merge {

void OrderedOutput::write(std::uint32_t index, std::string_view text) {
  std::string packed;
  if (gzip_ && !text.empty()) packed = gzip_member(text);
  std::unique_lock lock(mutex_);
  turn_.wait(lock, [&] { return next_ == index || abandoned_; });
  if (abandoned_) return;
  if (!text.empty() && !closed_) closed_ = !put_(gzip_ ? std::string_view(packed) : text);
  ++next_;
  turn_.notify_all();
}

void OrderedOutput::abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = closed_ = true;
  turn_.notify_all();
}

void OrderedOutput::write(std::string_view text) {
  next_ = 0;
  write(0, text);
  next_ = 0;
}

}  // namespace stepscope::merge

#include "read/snapshot/bytes.h"

#include <algorithm>

namespace stepscope::read {

bool Bytes::refill(std::size_t count) {
  // Snapshots are stored in about a tenth of their size; gzip allows for a thousandth.
  constexpr std::int64_t kFreely = std::int64_t{1} << 28, kTimes = 100;
  char* begin = buffer_.data();
  auto left = static_cast<std::size_t>(end_ - at_);
  offset_ += at_ - begin;
  std::memmove(begin, at_, left);
  while (left < kWindow && !ended_) {
    const std::size_t more = source_.read(begin + left, kWindow - left);
    expands_ = offset_ > kFreely && offset_ / kTimes > source_.position();
    ended_ = more == 0 || expands_;
    left += more;
  }
  at_ = begin;
  end_ = begin + left;
  std::memset(end_, 0, kPadded);
  return left >= count;
}

bool Bytes::skip(std::uint64_t count) {
  while (count > 0) {
    if (!need(1)) return false;
    const auto step = std::min<std::uint64_t>(count, static_cast<std::uint64_t>(end_ - at_));
    at_ += step;
    count -= step;
  }
  return true;
}

}  // namespace stepscope::read

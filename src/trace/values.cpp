#include "trace/values.h"

#include <iterator>
#include <utility>

namespace stepscope::trace {

std::size_t Values::take(Values&& other) {
  const std::size_t begin = room();
  if (const std::size_t used = other.size_ % kPiece; used != 0) {
    Column<std::int32_t>& last = other.pieces_.back();
    last = Column<std::int32_t>(last.begin(), last.begin() + static_cast<std::ptrdiff_t>(used));
  }
  pieces_.insert(pieces_.end(), std::make_move_iterator(other.pieces_.begin()),
                 std::make_move_iterator(other.pieces_.end()));
  size_ = room();
  other = {};
  return begin;
}

}  // namespace stepscope::trace

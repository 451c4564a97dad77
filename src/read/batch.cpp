#include "read/batch.h"

#include <algorithm>
#include <cstring>

namespace stepscope::read {
namespace {

template <class T>
std::span<T> place(const std::vector<T>& from, std::byte* memory) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % alignof(std::int64_t) == 0);
  if (!from.empty()) std::memcpy(memory, from.data(), from.size() * sizeof(T));
  return {reinterpret_cast<T*>(memory), from.size()};
}

std::shared_ptr<std::byte> allocate(std::size_t bytes) {
  return {ColumnAllocator<std::byte>().allocate(bytes),
          [bytes](std::byte* memory) { ColumnAllocator<std::byte>().deallocate(memory, bytes); }};
}

}  // namespace

void BatchMemory::keep(const ParsedRows& rows, Batch& batch) {
  const std::size_t bytes = rows.rows.size() * sizeof(ParsedRow) + rows.values.size() * sizeof(std::int64_t) +
                            rows.flows.size() * sizeof(ParsedFlow);
  if (bytes > size_ - used_) {
    size_ = piece_ == nullptr ? bytes : std::max(bytes, kPiece);  // most files are one batch
    piece_ = allocate(size_);
    used_ = 0;
  }
  std::byte* memory = piece_.get() + used_;
  batch.memory = piece_;
  batch.rows = place(rows.rows, memory);
  batch.values = place(rows.values, memory + batch.rows.size_bytes());
  batch.flows = place(rows.flows, memory + batch.rows.size_bytes() + batch.values.size_bytes());
  used_ += bytes;
  for (ParsedRow& row : batch.rows) {
    if (row.track >= place_of_.size()) place_of_.resize(row.track + 1);
    std::uint32_t& place = place_of_[row.track];
    if (place >= batch.tracks.size() || batch.tracks[place].track != row.track) {
      place = static_cast<std::uint32_t>(batch.tracks.size());
      batch.tracks.push_back({row.track, 0});
    }
    ++batch.tracks[place].rows;
    row.track = place;
  }
}

}  // namespace stepscope::read

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

std::uint32_t BatchMemory::track_in(Batch& batch, trace::TrackId track) {
  if (track >= track_at_.size()) track_at_.resize(track + 1);
  std::uint32_t& place = track_at_[track];
  if (place >= batch.tracks.size() || batch.tracks[place].track != track) {
    place = static_cast<std::uint32_t>(batch.tracks.size());
    batch.tracks.push_back({track, 0});
  }
  return place;
}

std::uint32_t BatchMemory::lane_in(Batch& batch, LaneId lane, const Vocabulary& words) {
  if (lane >= lane_at_.size()) lane_at_.resize(words.lanes.size());
  std::uint32_t& place = lane_at_[lane];
  if (place >= batch.lanes.size() || batch.lanes[place].lane != lane) {
    place = static_cast<std::uint32_t>(batch.lanes.size());
    batch.lanes.push_back({lane, track_in(batch, words.lanes[lane].track)});
  }
  return place;
}

void BatchMemory::keep(const ParsedRows& rows, const Vocabulary& words, Batch& batch) {
  const std::size_t bytes = rows.rows.size() * sizeof(ParsedRow) + rows.flows.size() * sizeof(ParsedFlow);
  if (bytes > size_ - used_) {
    size_ = piece_ == nullptr ? bytes : std::max(bytes, kPiece);  // small files: one batch
    piece_ = allocate(size_);
    used_ = 0;
  }
  std::byte* memory = piece_.get() + used_;
  batch.memory = piece_;
  batch.rows = place(rows.rows, memory);
  batch.flows = place(rows.flows, memory + batch.rows.size_bytes());
  used_ += bytes;
  for (ParsedRow& row : batch.rows) {
    row.lane = lane_in(batch, row.lane, words);
    ++batch.tracks[batch.lanes[row.lane].track].rows;
  }
}

}  // namespace stepscope::read

// Which allocation is open at an address: a hash table that only grows, since addresses are used again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/hash.h"

namespace stepscope::derive {

class OpenAddresses {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  struct Entry {
    std::uint64_t address = 0;
    std::uint32_t event = kNone;      ///< the open allocation; kNone: none
    std::uint32_t requested = kNone;  ///< the event that requested its free; kNone: none yet
    bool used = false;
  };

  /// The entry of an address; valid until the next call.
  Entry& at(std::uint64_t address) {
    if (count_ * 2 >= slots_.size()) grow();
    Entry& entry = find(slots_, address);
    if (!entry.used) {
      entry = {address, kNone, kNone, true};
      ++count_;
    }
    return entry;
  }

  /// Entries with an open allocation, by address.
  std::vector<Entry> open() const {
    std::vector<Entry> entries;
    for (const Entry& entry : slots_)
      if (entry.event != kNone) entries.push_back(entry);
    std::ranges::sort(entries, {}, &Entry::address);
    return entries;
  }

 private:
  Entry& find(std::vector<Entry>& slots, std::uint64_t address) const {
    const std::size_t mask = slots.size() - 1;
    std::size_t at = hash_of(static_cast<std::int64_t>(address), seed_) & mask;
    while (slots[at].used && slots[at].address != address) at = (at + 1) & mask;
    return slots[at];
  }
  void grow() {
    std::vector<Entry> larger(slots_.size() * 4);
    for (const Entry& entry : slots_)
      if (entry.used) find(larger, entry.address) = entry;
    slots_ = std::move(larger);
  }

  HashSeed seed_ = process_hash_seed();
  std::vector<Entry> slots_ = std::vector<Entry>(4096);
  std::size_t count_ = 0;
};

}  // namespace stepscope::derive

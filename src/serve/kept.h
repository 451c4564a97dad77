// Values that are made once and kept while there is room.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace stepscope::serve {

/// By key. Who asks for a value that is being made waits for it. The values used longest ago are forgotten
/// while the sum of costs exceeds the budget; who holds one keeps it. Thread-safe.
template <class Value>
class Kept {
 public:
  using Pointer = std::shared_ptr<const Value>;

  explicit Kept(std::int64_t budget) : budget_(budget) {}

  /// If make() throws, nothing is kept and the next who asks makes it again.
  template <class Make>
  Pointer get(const std::string& key, std::int64_t cost, const Make& make) {
    const std::shared_ptr<Entry> entry = entry_of(key, cost);
    const std::lock_guard lock(entry->making);
    if (entry->value == nullptr) try {
        entry->value = make();
      } catch (...) {
        forget(key, entry.get());
        throw;
      }
    return entry->value;
  }

  void forget(const std::string& key) { forget(key, nullptr); }

 private:
  struct Entry {
    std::mutex making;
    Pointer value;
    std::int64_t cost = 0;
    std::uint64_t used = 0;
  };
  using Entries = std::map<std::string, std::shared_ptr<Entry>>;

  std::shared_ptr<Entry> entry_of(const std::string& key, std::int64_t cost) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Entry>& entry = entries_[key];
    if (entry == nullptr) entry = std::make_shared<Entry>();
    entry->cost = cost;
    entry->used = ++clock_;
    std::shared_ptr<Entry> asked = entry;
    make_room();
    return asked;
  }

  /// The one asked for was used last, so it stays.
  void make_room() {
    std::int64_t total = 0;
    for (const auto& [key, entry] : entries_) total += entry->cost;
    while (total > budget_ && entries_.size() > 1) {
      const auto oldest =
          std::ranges::min_element(entries_, {}, [](const auto& e) { return e.second->used; });
      total -= oldest->second->cost;
      entries_.erase(oldest);
    }
  }

  /// `only`: unless another entry has taken its place; null: whichever is there.
  void forget(const std::string& key, const Entry* only) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found != entries_.end() && (only == nullptr || found->second.get() == only)) entries_.erase(found);
  }

  const std::int64_t budget_;
  std::mutex mutex_;  // guards what follows; values are made without it
  Entries entries_;
  std::uint64_t clock_ = 0;
};

}  // namespace stepscope::serve

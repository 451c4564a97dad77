// Gives each distinct text an id.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stepscope::record {

class Interned {
 public:
  std::uint32_t id(std::string_view text) {
    const auto [at, added] = ids_.try_emplace(std::string(text), static_cast<std::uint32_t>(texts_.size()));
    if (added) texts_.push_back(&at->first);
    return at->second;
  }
  std::string_view operator[](std::size_t id) const { return *texts_[id]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<const std::string*> texts_;  // point to the map's keys, which never move
};

}  // namespace stepscope::record

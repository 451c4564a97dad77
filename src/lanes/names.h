// The names of a run's events, numbered without gaps.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace stepscope::lanes {

using NameId = std::uint32_t;

/// A name that events have, and of which kinds these are.
struct Name {
  trace::StringId text;
  std::uint32_t kinds;  ///< bit 1 << Kind
  bool is_of(trace::Kind kind) const { return (kinds >> static_cast<int>(kind) & 1) != 0; }
};

class Names {
 public:
  /// In order of the first event with each name. O(events).
  explicit Names(const trace::Trace& trace);

  std::uint32_t size() const { return static_cast<std::uint32_t>(names_.size()); }
  const Name& operator[](NameId id) const { return names_[id]; }
  const std::vector<Name>& all() const { return names_; }
  /// Of a text that an event has as its name.
  NameId of(trace::StringId text) const { return ids_[text]; }

 private:
  std::vector<Name> names_;
  std::vector<NameId> ids_;  // by StringId
};

}  // namespace stepscope::lanes

#include "read/not_recorded.h"

#include <algorithm>
#include <string>
#include <utility>

#include "read/json_members.h"

namespace stepscope::read {

void note_not_recorded(trace::Trace& trace) {
  for (const trace::Rank& rank : trace.ranks) {
    const std::string whose = trace.ranks.size() > 1 ? "Rank " + std::to_string(rank.rank) + ": " : "";
    for (const auto& [key, json] : rank.metadata)
      if (key.starts_with(kNotRecorded))
        for (const std::string& sentence : elements_of(json)) {
          std::string note = whose + text_of(sentence);
          if (std::ranges::find(trace.notes, note) == trace.notes.end())
            trace.notes.push_back(std::move(note));
        }
  }
}

}  // namespace stepscope::read

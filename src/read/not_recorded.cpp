#include "read/not_recorded.h"

#include <string>

#include "read/json_members.h"

namespace stepscope::read {

void note_not_recorded(trace::Trace& trace) {
  for (const trace::Rank& rank : trace.ranks) {
    const std::string whose = trace.ranks.size() > 1 ? "Rank " + std::to_string(rank.rank) + ": " : "";
    for (const auto& [key, json] : rank.metadata)
      if (key.starts_with(kNotRecorded))
        for (const std::string& sentence : elements_of(json))
          trace.notes.push_back(whose + text_of(sentence));
  }
}

}  // namespace stepscope::read

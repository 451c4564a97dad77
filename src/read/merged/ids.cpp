#include "read/merged/ids.h"

namespace stepscope::read {

std::optional<IdSpace> id_space_of(std::string_view key) {
  struct Known {
    std::string_view key;
    IdSpace space;
  };
  constexpr Known kKnown[] = {
      {"correlation", IdSpace::link},    {"External id", IdSpace::link},
      {"external id", IdSpace::link},    {"wait_on_cuda_event_record_corr_id", IdSpace::link},
      {"bind_id", IdSpace::link},        {"Ev Idx", IdSpace::index},
      {"Python id", IdSpace::python},    {"Python parent id", IdSpace::python},
      {"graph id", IdSpace::graph},      {"graph node id", IdSpace::graph},
      {"captured by id", IdSpace::link},
  };
  for (const Known& known : kKnown)
    if (known.key == key) return known.space;
  return std::nullopt;
}

}  // namespace stepscope::read

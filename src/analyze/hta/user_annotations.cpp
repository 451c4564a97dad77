// The user's own ranges in HTA's table.
#include "analyze/host/user_annotations.h"

#include "analyze/hta/others.h"
#include "analyze/hta/rows.h"
#include "analyze/list.h"

namespace stepscope::analyze::hta {
namespace {

std::vector<NamedDurations> most_of(std::vector<NamedDurations> rows, const report::Params& params) {
  return with_others(std::move(rows), params, 1000);
}

constexpr report::ParamSpec kUserAnnotationsParams[] = {
    {"duration-ratio", report::ParamSpec::Type::percentage, "80", "",
     "keep names for this percentage of the time"},
    {"num-kernels", report::ParamSpec::Type::integer, "1000", "",
     "max names per rank; the rest becomes others"},
    {"keep", report::ParamSpec::Type::texts, "", "",
     "names that contain this text never become others; may be given several times"}};

}  // namespace

constinit const FormParams user_annotations_params = kUserAnnotationsParams;

report::Report user_annotations(const Derived& derived, const report::Params& params) {
  std::vector<RankRanges> ranks;
  for (const Table& table : tables_of(derived, keep_of(params))) {
    RankRanges& of = ranks.emplace_back(RankRanges{table.rank, {}, {}, {}});
    for (const Event& event : table.events) {
      const trace::Kind kind = table.rank->events.kind[event.row];
      const Placed placed{event.start, event.length, event.row};
      if (kind == trace::Kind::device_annotation) of.device_ranges.push_back(placed);
      if (kind == trace::Kind::annotation) of.host_ranges.push_back(placed);
      if (event.stream >= 0 && event.correlation >= 0) of.events.push_back(placed);
    }
  }
  return annotations_in(std::move(ranks), derived.trace(), most_of, params);
}

}  // namespace stepscope::analyze::hta

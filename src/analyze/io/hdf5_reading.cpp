#include "analyze/io/hdf5_reading.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/statistics.h"

namespace stepscope::analyze {

using derive::LibraryCall;

Hdf5Reading::Hdf5Reading(const trace::Trace& trace, const trace::Rank& rank, const RankIo& io)
    : trace_(trace), rank_(rank), file_(trace, rank, "fname"), object_(trace, rank, "object") {
  for (const LibraryCall& call : io.library_calls)
    if (call.library == derive::IoLibrary::hdf5 && call.kind == derive::IoKind::read &&
        !derive::is_in_call_of(derive::IoLibrary::hdf5, trace, rank, call.row))
      calls_[rank.tracks[rank.events.track[call.row]].pid].push_back(&call);
  for (auto& [pid, calls] : calls_)
    std::ranges::stable_sort(calls, {},
                             [&](const LibraryCall* call) { return rank.events.start[call->row]; });
}

void Hdf5Reading::add_to(FetchIo& sum, const std::string& pid, timeline::Interval fetch) {
  const auto found = calls_.find(pid);
  if (found == calls_.end()) return;
  const trace::EventTable& e = rank_.events;
  Column<timeline::Interval> spans;
  auto at = std::ranges::lower_bound(found->second, fetch.begin, {},
                                     [&](const LibraryCall* call) { return e.start[call->row]; });
  for (; at != found->second.end() && e.start[(*at)->row] < fetch.end; ++at) {
    const LibraryCall& call = **at;
    ++sum.hdf5_reads;
    report::add_to(sum.hdf5_asked, call.bytes);
    report::add_to(sum.hdf5_read, call.io_bytes);
    report::add_to(sum.hdf5_io, call.io);
    report::add_to(times_[told(call.row)], e.duration(call.row));
    spans.push_back({e.start[call.row], e.end[call.row]});
  }
  report::add_to(sum.hdf5_load, timeline::IntervalSet::of(std::move(spans)).length_in(fetch));
}

void Hdf5Reading::name(FetchIo& sum) const {
  const auto most = std::ranges::max_element(times_, {}, [](const auto& of) { return of.second; });
  if (most != times_.end()) sum.hdf5_call = most->first;
}

std::string Hdf5Reading::told(trace::Row row) const {
  const trace::StringId file = file_.id(row), object = object_.id(row);
  std::string text(trace_.name(rank_, row));
  if (file != trace::kEmptyString) text += fmt::format(" of {}", trace_.text(file));
  if (object != trace::kEmptyString) text += fmt::format(" ({})", trace_.text(object));
  return text;
}

}  // namespace stepscope::analyze

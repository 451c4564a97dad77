#include "analyze/io/io.h"

#include <fmt/format.h>

#include "analyze/list.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::analyze {
namespace {

using report::kNoInt;
using report::kNoReal;
using report::Role;
using report::Shape;
using report::Tag;
using report::Unit;

/// Bytes per second.
double bandwidth(std::int64_t bytes, std::int64_t ns) {
  return ns > 0 && bytes > 0 ? static_cast<double>(bytes) * 1e9 / static_cast<double>(ns) : kNoReal;
}

std::string step_text(std::int64_t step) { return step == kNoInt ? "" : std::to_string(step); }

std::string bytes_text(std::int64_t bytes) {
  constexpr std::pair<std::int64_t, const char*> kUnits[] = {
      {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}};
  for (const auto& [size, name] : kUnits)
    if (bytes >= size) return fmt::format("{} {}", bytes / size, name);
  return fmt::format("{} B", bytes);
}

std::string size_text(const IoSize& size) {
  if (size.below == kNoInt) return bytes_text(size.least) + " and more";
  return size.least == 0 ? "below " + bytes_text(size.below)
                         : bytes_text(size.least) + " to " + bytes_text(size.below);
}

std::string length_text(const IoLatency& latency) {
  const auto least = static_cast<double>(latency.least);
  return report::format_value(least, Unit::ns) + " to " + report::format_value(2 * least, Unit::ns);
}

const report::Sheet<IoOverlap> kOverlapSheet{
    "I/O and compute",
    Shape::table,
    {report::rank_field<IoOverlap>(&IoOverlap::rank),
     {"calls", &IoOverlap::calls, Unit::count},
     {"processes", &IoOverlap::processes, Unit::count},
     {"files", &IoOverlap::files, Unit::count},
     {"read", &IoOverlap::read, Unit::bytes},
     {"written", &IoOverlap::written, Unit::bytes},
     {"recorded_calls", &IoOverlap::recorded_calls, Unit::count},
     {"recorded_read", &IoOverlap::recorded_read, Unit::bytes},
     {"recorded_written", &IoOverlap::recorded_written, Unit::bytes},
     {"earlier_io", &IoOverlap::earlier_io, Unit::ns},
     {"earlier_group", &IoOverlap::earlier_group, Role::detail},
     {"window", &IoOverlap::window, Unit::ns},
     {"io", &IoOverlap::io, Unit::ns},
     {"main_process_io", &IoOverlap::main_io, Unit::ns},
     {"compute", &IoOverlap::compute, Unit::ns},
     {"hidden_io", &IoOverlap::both, Unit::ns},
     {"exposed_io", &IoOverlap::exposed_io, Unit::ns},
     {"exposed_main_process_io", &IoOverlap::exposed_main, Unit::ns}}};

const report::Sheet<LateBatch> kBatchSheet{
    "Waits for data, and the I/O in them",
    Shape::table,
    {report::rank_field<LateBatch>(&LateBatch::rank),
     {"start", &LateBatch::start, Unit::ns, Tag::of_one_run},
     {"step", +[](const LateBatch& b) { return step_text(b.step); }, Role::detail},
     {"wait", &LateBatch::wait, Unit::ns},
     {"exposed", &LateBatch::exposed, Unit::ns},
     {"worker", &LateBatch::worker, Role::detail},
     {"load", &LateBatch::load, Unit::ns},
     {"io", &LateBatch::io, Unit::ns},
     {"calls", &LateBatch::calls, Unit::count},
     {"metadata_calls", &LateBatch::metadata, Unit::count, Role::detail},
     {"files", &LateBatch::files, Unit::count},
     {"read", &LateBatch::read, Unit::bytes},
     {"slowest_file", &LateBatch::slowest, Role::detail},
     {"its_time", &LateBatch::slowest_time, Unit::ns, Role::detail}}};

const report::Sheet<IoOfKind> kKindSheet{
    "Calls by kind",
    Shape::table,
    {report::rank_field<IoOfKind>(&IoOfKind::rank),
     {"kind", report::named<&IoOfKind::kind>},
     {"calls", &IoOfKind::calls, Unit::count},
     {"failed", &IoOfKind::failed, Unit::count, Role::detail},
     {"time", &IoOfKind::time, Unit::ns},
     {"bytes", &IoOfKind::bytes, Unit::bytes},
     {"bandwidth", +[](const IoOfKind& k) { return bandwidth(k.bytes, k.time); }, Unit::bytes_per_s},
     {"mean_bytes", +[](const IoOfKind& k) { return k.bytes == 0 ? kNoInt : report::mean(k.bytes, k.calls); },
      Unit::bytes},
     {"p50", &IoOfKind::median, Unit::ns},
     {"p95", &IoOfKind::p95, Unit::ns},
     {"max", &IoOfKind::longest, Unit::ns}}};

const report::Sheet<IoFile> kFileSheet{
    "Files",
    Shape::table,
    {report::rank_field<IoFile>(&IoFile::rank),
     {"file", &IoFile::file},
     {"calls", &IoFile::calls, Unit::count},
     {"opens", &IoFile::opens, Unit::count},
     {"time", &IoFile::time, Unit::ns},
     {"read", &IoFile::read, Unit::bytes},
     {"written", &IoFile::written, Unit::bytes},
     {"bandwidth", +[](const IoFile& f) { return bandwidth(report::plus(f.read, f.written), f.time); },
      Unit::bytes_per_s},
     {"small", +[](const IoFile& f) { return report::ratio(f.small, f.reads + f.writes); }, Unit::share,
      Role::detail},
     {"in_order", +[](const IoFile& f) { return report::ratio(f.in_order, f.placed); }, Unit::share,
      Role::detail},
     {"seeks", &IoFile::seeks, Unit::count, Role::detail},
     {"times_read",
      +[](const IoFile& f) { return f.distinct == kNoInt ? kNoReal : report::ratio(f.read, f.distinct); },
      Unit::none, Role::detail},
     {"from_storage", +[](const IoFile& f) { return report::ratio(f.stored, f.reads); }, Unit::share,
      Role::detail},
     {"failed", &IoFile::failed, Unit::count, Role::detail}}};

const report::Sheet<IoGroup> kGroupSheet{"Groups of files",
                                         Shape::table,
                                         {report::rank_field<IoGroup>(&IoGroup::rank),
                                          {"group", &IoGroup::group},
                                          {"files", &IoGroup::files, Unit::count},
                                          {"calls", &IoGroup::calls, Unit::count},
                                          {"opens", &IoGroup::opens, Unit::count},
                                          {"metadata_calls", &IoGroup::metadata, Unit::count, Role::detail},
                                          {"time", &IoGroup::time, Unit::ns},
                                          {"read", &IoGroup::read, Unit::bytes},
                                          {"written", &IoGroup::written, Unit::bytes}}};

const report::Sheet<FetchIo> kFetchSheet{
    "I/O while batches are fetched",
    Shape::table,
    {report::rank_field<FetchIo>(&FetchIo::rank),
     {"batches", &FetchIo::batches, Unit::count},
     {"ready", &FetchIo::ready, Unit::count},
     {"load", &FetchIo::load, Unit::ns},
     {"io", &FetchIo::io, Unit::ns},
     {"threads", &FetchIo::threads, Unit::count},
     {"calls", &FetchIo::calls, Unit::count},
     {"time", &FetchIo::time, Unit::ns},
     {"read", &FetchIo::read, Unit::bytes},
     {"opens", &FetchIo::opens, Unit::count},
     {"opening_time", &FetchIo::opening_time, Unit::ns},
     {"asks", &FetchIo::asks, Unit::count},
     {"asking_time", &FetchIo::asking_time, Unit::ns},
     {"reads", &FetchIo::reads, Unit::count},
     {"from_storage", &FetchIo::stored, Unit::count},
     {"stored_time", &FetchIo::stored_time, Unit::ns},
     {"group", &FetchIo::group},
     {"opened_per_batch", &FetchIo::group_files, Unit::count, Role::detail},
     {"read_again", &FetchIo::again_group},
     {"its_read", &FetchIo::again_read, Unit::bytes},
     {"its_bytes", &FetchIo::again_distinct, Unit::bytes},
     {"its_handling", &FetchIo::again_handled, Unit::ns},
     {"locks", &FetchIo::locks, Unit::count},
     {"lock_time", &FetchIo::lock_time, Unit::ns},
     {"locked", &FetchIo::locked},
     {"syncs", &FetchIo::syncs, Unit::count},
     {"sync_time", &FetchIo::sync_time, Unit::ns},
     {"changes", &FetchIo::changes, Unit::count},
     {"change_time", &FetchIo::change_time, Unit::ns},
     {"hdf5_reads", &FetchIo::hdf5_reads, Unit::count},
     {"hdf5_load", &FetchIo::hdf5_load, Unit::ns},
     {"hdf5_asked", &FetchIo::hdf5_asked, Unit::bytes},
     {"hdf5_read", &FetchIo::hdf5_read, Unit::bytes},
     {"hdf5_io", &FetchIo::hdf5_io, Unit::ns},
     {"hdf5_call", &FetchIo::hdf5_call}}};

const report::Sheet<IoProcess> kProcessSheet{"Processes",
                                             Shape::bars,
                                             {report::rank_field<IoProcess>(&IoProcess::rank),
                                              {"process", &IoProcess::process},
                                              {"threads", &IoProcess::threads, Unit::count},
                                              {"calls", &IoProcess::calls, Unit::count},
                                              {"files", &IoProcess::files, Unit::count},
                                              {"read", &IoProcess::read, Unit::bytes},
                                              {"written", &IoProcess::written, Unit::bytes},
                                              {"time", &IoProcess::time, Unit::ns},
                                              {"share", &IoProcess::share, Unit::share, Role::share}}};

const report::Sheet<IoLibraryCalls> kLibrarySheet{
    "Calls of I/O libraries",
    Shape::table,
    {report::rank_field<IoLibraryCalls>(&IoLibraryCalls::rank),
     {"library", report::named<&IoLibraryCalls::library>, Role::detail},
     {"function", &IoLibraryCalls::function},
     {"calls", &IoLibraryCalls::calls, Unit::count},
     {"failed", &IoLibraryCalls::failed, Unit::count, Role::detail},
     {"time", &IoLibraryCalls::time, Unit::ns},
     {"bytes", &IoLibraryCalls::bytes, Unit::bytes},
     {"io", &IoLibraryCalls::io, Unit::ns},
     {"io_bytes", &IoLibraryCalls::io_bytes, Unit::bytes},
     {"p50", &IoLibraryCalls::median, Unit::ns},
     {"p95", &IoLibraryCalls::p95, Unit::ns},
     {"max", &IoLibraryCalls::longest, Unit::ns}}};

const report::Sheet<IoCaller> kCallerSheet{"What calls",
                                           Shape::table,
                                           {report::rank_field<IoCaller>(&IoCaller::rank),
                                            {"caller", &IoCaller::caller},
                                            {"layer", &IoCaller::layer, Role::detail},
                                            {"calls", &IoCaller::calls, Unit::count},
                                            {"time", &IoCaller::time, Unit::ns},
                                            {"bytes", &IoCaller::bytes, Unit::bytes}}};

const report::Sheet<SavedFile> kSavedSheet{
    "Large files written by the main process",
    Shape::table,
    {report::rank_field<SavedFile>(&SavedFile::rank),
     {"start", &SavedFile::start, Unit::ns, Tag::of_one_run},
     {"step", +[](const SavedFile& s) { return step_text(s.step); }, Role::detail},
     {"file", &SavedFile::file},
     {"written", &SavedFile::written, Unit::bytes},
     {"calls", &SavedFile::calls, Unit::count},
     {"stall", &SavedFile::stall, Unit::ns},
     {"io", &SavedFile::io, Unit::ns},
     {"sync", &SavedFile::sync, Unit::ns},
     {"exposed", &SavedFile::exposed, Unit::ns},
     {"line", &SavedFile::line, Role::detail},
     {"bandwidth", +[](const SavedFile& s) { return bandwidth(s.written, s.stall); }, Unit::bytes_per_s}}};

const report::Sheet<FlushedFile> kFlushedSheet{
    "Files that the main thread waits for",
    Shape::table,
    {report::rank_field<FlushedFile>(&FlushedFile::rank),
     {"file", &FlushedFile::file},
     {"writes", &FlushedFile::writes, Unit::count},
     {"written", &FlushedFile::written, Unit::bytes},
     {"fsyncs", &FlushedFile::flushes, Unit::count},
     {"stall", &FlushedFile::stall, Unit::ns},
     {"exposed", &FlushedFile::exposed, Unit::ns},
     {"line", &FlushedFile::line, Role::detail},
     {"max", +[](const FlushedFile& f) { return f.longest.length; }, Unit::ns}}};

const report::Sheet<HoldingFiles> kHoldingSheet{
    "Files that hold up the steps",
    Shape::table,
    {report::rank_field<HoldingFiles>(&HoldingFiles::rank),
     {"group", &HoldingFiles::group},
     {"files", &HoldingFiles::files, Unit::count},
     {"calls", &HoldingFiles::calls, Unit::count},
     {"opens", &HoldingFiles::opens, Unit::count},
     {"read", &HoldingFiles::read, Unit::bytes},
     {"written", &HoldingFiles::written, Unit::bytes},
     {"times_read", +[](const HoldingFiles& f) { return report::ratio(f.placed_read, f.distinct); },
      Unit::none, Role::detail},
     {"io", &HoldingFiles::io, Unit::ns},
     {"time", &HoldingFiles::time, Unit::ns},
     {"time_of_lines", &HoldingFiles::line_time, Unit::ns},
     {"line", &HoldingFiles::line, Role::detail},
     {"waiting_line", &HoldingFiles::waiting_line, Role::detail}}};

const report::Sheet<IoSize> kSizeSheet{
    "Reads and writes by size",
    Shape::bars,
    {report::rank_field<IoSize>(&IoSize::rank),
     {"calls_of", +[](const IoSize& s) { return std::string(s.writes ? "write" : "read"); }},
     {"size", size_text},
     {"calls", &IoSize::calls, Unit::count},
     {"bytes", &IoSize::bytes, Unit::bytes},
     {"time", &IoSize::time, Unit::ns},
     {"bandwidth", +[](const IoSize& s) { return bandwidth(s.bytes, s.time); }, Unit::bytes_per_s}}};

const report::Sheet<IoLatency> kLatencySheet{"Reads and writes by length",
                                             Shape::bars,
                                             {report::rank_field<IoLatency>(&IoLatency::rank),
                                              {"length", length_text},
                                              {"reads", &IoLatency::reads, Unit::count},
                                              {"writes", &IoLatency::writes, Unit::count},
                                              {"time", &IoLatency::time, Unit::ns}}};

const report::Sheet<IoMoment> kMomentSheet{"I/O over time",
                                           Shape::curve,
                                           {report::rank_field<IoMoment>(&IoMoment::rank),
                                            {"start", &IoMoment::start, Unit::ns, Tag::of_one_run},
                                            {"length", &IoMoment::length, Unit::ns, Role::detail},
                                            {"calls", &IoMoment::calls, Unit::count},
                                            {"read", &IoMoment::read, Unit::bytes},
                                            {"written", &IoMoment::written, Unit::bytes},
                                            {"busy", &IoMoment::busy, Unit::share}}};

Io made(const Derived& derived) {
  Io of;
  if (!has_io(derived, of.notes)) return of;
  const trace::Trace& trace = derived.trace();
  for (const trace::Rank& rank : trace.ranks) {
    const RankIo& io = io_of(derived, rank);
    if (io.empty()) continue;
    add_io_overlap(of, trace, rank, io);
    add_late_batches(of, derived, rank, io);
    add_io_kinds(of, rank, io);
    add_io_files(of, trace, rank, io);
    add_io_libraries(of, trace, rank, io);
    add_io_callers(of, trace, rank, io);
    add_saved_files(of, trace, rank, io);
    add_holding_files(of, trace, rank, io);
    add_io_sizes(of, rank, io);
  }
  return of;
}

}  // namespace

const Io& io_answer(const Derived& derived) {
  return derived.kept<Io>(0, [&] { return made(derived); });
}

constinit const About io_about = {};

report::Report io(const Derived& derived, const report::Params&) {
  const bool several = derived.trace().several();
  const Io& of = io_answer(derived);
  return {"io",
          {tabulate(kOverlapSheet, of.overlap, several), tabulate(kFetchSheet, of.fetching, several),
           tabulate(kBatchSheet, of.batches, several), tabulate(kKindSheet, of.kinds, several),
           tabulate(kGroupSheet, of.groups, several), tabulate(kFileSheet, of.files, several),
           tabulate(kProcessSheet, of.processes, several), tabulate(kLibrarySheet, of.libraries, several),
           tabulate(kCallerSheet, of.callers, several), tabulate(kSavedSheet, of.saved, several),
           tabulate(kFlushedSheet, of.flushed, several), tabulate(kHoldingSheet, of.holding, several),
           tabulate(kSizeSheet, of.sizes, several), tabulate(kLatencySheet, of.latencies, several),
           tabulate(kMomentSheet, of.moments, several)},
          of.notes};
}

}  // namespace stepscope::analyze

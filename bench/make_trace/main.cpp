// make_trace: options in, trace files and their truth out.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <vector>

#include "make_trace/file/trace_file.h"
#include "make_trace/model/training_step.h"
#include "make_trace/options.h"
#include "make_trace/plant/planted.h"
#include "make_trace/plant/truth.h"
#include "make_trace/run/job.h"

namespace stepscope::make_trace {
namespace {

/// Events that one rank writes per step, counted by writing one step.
std::int64_t events_per_step(Options options) {
  options.steps = 1;
  options.warmup = 1;
  const Programs programs = programs_of(options);
  Text text;
  EventWriter writer(options, programs.of(0), 0, text);
  Observer observer;
  observer.step = [&](int rank, const StepRows& rows) {
    if (rank == 0) writer.rows(rows);
  };
  Job(options, programs).run(observer);
  return writer.events();
}

void choose_steps(Options& options) {
  if (options.events_target <= 0) return;
  const std::int64_t per_step = events_per_step(options) * options.ranks;
  const std::int64_t steps = (options.events_target + per_step / 2) / per_step;
  options.steps = static_cast<int>(std::clamp<std::int64_t>(steps, 1, 10'000'000));
}

void create_folder(const Options& options) {
  const std::filesystem::path path(options.out);
  const std::filesystem::path folder = writes_one_file(options) ? path.parent_path() : path;
  if (!folder.empty()) std::filesystem::create_directories(folder);
}

/// One file per rank stays open: more files than a shell usually allows.
void allow_many_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int write(Options options) {
  for (const std::string& name : options.without) options = repaired(options, name);
  choose_steps(options);
  create_folder(options);
  allow_many_files();
  const Programs programs = programs_of(options);
  std::vector<std::unique_ptr<TraceFile>> files;
  for (int rank = 0; rank < options.ranks; ++rank) {
    files.push_back(std::make_unique<TraceFile>(options, programs.of(rank), rank));
  }
  Truth truth(options, programs);
  const bool wanted = !options.truth.empty();
  Observer observer;
  observer.begin = [&](int rank, std::int64_t at) {
    files[static_cast<std::size_t>(rank)]->begin(at);
    if (wanted) truth.begin(rank, at);
  };
  observer.meetings = [&](int step, std::int64_t first, const std::vector<Meeting>& meetings) {
    if (wanted) truth.meetings(step, first, meetings);
  };
  observer.step = [&](int rank, const StepRows& rows) {
    files[static_cast<std::size_t>(rank)]->step(rows);
    if (wanted) truth.step(rank, rows);
  };
  observer.end = [&](int rank, const HostRow& drain) { files[static_cast<std::size_t>(rank)]->end(drain); };
  Job(options, programs).run(observer);
  if (wanted) {
    Sink sink(options.truth, false);
    sink.write(truth.finish());
    sink.close();
  }
  std::int64_t events = 0, bytes = 0;
  for (const auto& file : files) {
    events += file->events();
    bytes += file->bytes();
  }
  std::printf("%d %s, %d steps, %lld events, %.1f MB of JSON\n", options.ranks,
              options.ranks == 1 ? "rank" : "ranks", options.steps, static_cast<long long>(events),
              static_cast<double>(bytes) / 1e6);
  return 0;
}

}  // namespace
}  // namespace stepscope::make_trace

int main(int argc, char** argv) {
  stepscope::make_trace::Options options;
  const int code = stepscope::make_trace::parse_options(argc, argv, options);
  if (code >= 0) return code;
  try {
    return stepscope::make_trace::write(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_trace: %s\n", error.what());
    return 1;
  }
}

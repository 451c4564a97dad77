#include "make_trace/run/job.h"

#include <stdexcept>

namespace stepscope::make_trace {

Job::Job(const Options& options, const Programs& programs)
    : o_(options), collectives_({options.seed, options.end_jitter_us, options.end_bias_us}) {
  for (int rank = 0; rank < options.ranks; ++rank) {
    hosts_.push_back(std::make_unique<Host>(options, programs.of(rank), collectives_, rank));
  }
}

void Job::run(const Observer& observer) {
  for (int step = 0; step < o_.warmup; ++step) {
    simulate_step(step - o_.warmup, false);
    collectives_.next_step();
  }
  for (int rank = 0; rank < o_.ranks; ++rank) {
    Host& host = *hosts_[static_cast<std::size_t>(rank)];
    host.drain(false);
    if (observer.begin) observer.begin(rank, host.now());
  }
  for (int step = 0; step < o_.steps; ++step) {
    simulate_step(step, true);
    if (observer.meetings) observer.meetings(step, collectives_.first_number(), collectives_.meetings());
    for (int rank = 0; rank < o_.ranks && observer.step; ++rank) {
      observer.step(rank, hosts_[static_cast<std::size_t>(rank)]->rows());
    }
    collectives_.next_step();
  }
  for (int rank = 0; rank < o_.ranks; ++rank) {
    const std::optional<HostRow> drain = hosts_[static_cast<std::size_t>(rank)]->drain(true);
    if (observer.end) observer.end(rank, *drain);
  }
}

void Job::simulate_step(int step, bool recorded) {
  for (const auto& host : hosts_) host->begin_step(step, recorded);
  std::vector<Host*> unfinished;
  for (const auto& host : hosts_) unfinished.push_back(host.get());
  while (!unfinished.empty()) {
    const std::int64_t before = progress();
    std::erase_if(unfinished, [](Host* host) { return host->run(); });
    if (unfinished.empty() || progress() != before) continue;
    for (const auto& host : hosts_) host->settle();  // others may wait for ranks that have ended the step
    if (progress() == before) throw std::logic_error("the ranks wait for each other");
  }
  // In each round at least one more rank reaches a collective.
  for (bool settled = false; !settled;) {
    const std::int64_t before = progress();
    settled = true;
    for (const auto& host : hosts_) settled = host->settle() && settled;
    if (!settled && progress() == before) throw std::logic_error("a collective never starts");
  }
  for (const auto& host : hosts_) host->end_step();
}

std::int64_t Job::progress() const {
  std::int64_t sum = collectives_.arrivals();
  for (const auto& host : hosts_) sum += host->now();
  return sum;
}

}  // namespace stepscope::make_trace

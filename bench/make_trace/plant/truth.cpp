#include "make_trace/plant/truth.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "make_trace/file/dialect.h"
#include "make_trace/file/event_writer.h"
#include "make_trace/model/training_step.h"
#include "make_trace/plant/planted.h"
#include "make_trace/run/clock.h"

namespace stepscope::make_trace {
namespace {

constexpr const char* kDefinitions = R"(  "definitions": {
    "time": "ns of true time; a rank's clock shows at + offset_ns + at / 1000 * drift_ppb / 1000000, and Unix time is t0_ns more",
    "step": "from the end of the last device work of the step before (first step: start of the recording) to the end of its own",
    "length": "compute + exposed_comm + exposed_copy + all of idle",
    "idle": "nothing runs; the part before the launch of the work that ends the gap goes to what the host did (input, sync, alloc, launch, runtime, op, other), after the return of a blocking call to refill; the part after the launch is pending",
    "host_work": "what the host did in the step besides waiting for the device",
    "step_ns": "median over the steps, without the first, of the slowest rank's length",
    "mean_ns": "mean over all steps of the slowest rank's length",
    "saving_ns": "step_ns minus step_ns of the same seed without the problem; mean_saving_ns the same of mean_ns"
  },
)";

}  // namespace

void StepLengths::add(const StepLedger& ledger) {
  const auto step = static_cast<std::size_t>(ledger.step);
  if (slowest_.size() <= step) slowest_.resize(step + 1, 0);
  slowest_[step] = std::max(slowest_[step], ledger.length());
}

std::int64_t StepLengths::median() const {
  if (slowest_.empty()) return 0;
  std::vector<std::int64_t> lengths(slowest_.begin() + (slowest_.size() > 1 ? 1 : 0), slowest_.end());
  std::ranges::sort(lengths);
  const std::size_t n = lengths.size();
  return n % 2 == 1 ? lengths[n / 2] : (lengths[n / 2 - 1] + lengths[n / 2]) / 2;
}

std::int64_t StepLengths::mean() const {
  if (slowest_.empty()) return 0;
  return std::accumulate(slowest_.begin(), slowest_.end(), std::int64_t{0}) /
         static_cast<std::int64_t>(slowest_.size());
}

StepLengths step_lengths_of(const Options& options) {
  const Programs programs = programs_of(options);
  std::vector<Ledger> ledgers;
  std::vector<std::int64_t> last_starts;
  std::int64_t first_number = 0;
  StepLengths lengths;
  Observer observer;
  observer.begin = [&](int rank, std::int64_t at) { ledgers.emplace_back(programs.of(rank), at); };
  observer.meetings = [&](int, std::int64_t first, const std::vector<Meeting>& meetings) {
    first_number = first;
    last_starts.clear();
    for (const Meeting& m : meetings) last_starts.push_back(m.last_start);
  };
  observer.step = [&](int rank, const StepRows& rows) {
    lengths.add(ledgers[static_cast<std::size_t>(rank)].add(rows, last_starts, first_number));
  };
  Job(options, programs).run(observer);
  return lengths;
}

Truth::Truth(const Options& options, const Programs& programs) : o_(options), programs_(programs) {}

void Truth::begin(int rank, std::int64_t at) {
  ledgers_.emplace_back(programs_.of(rank), at);
  window_starts_.push_back(at);
}

void Truth::meetings(int step, std::int64_t first_number, const std::vector<Meeting>& meetings) {
  first_number_ = first_number;
  last_starts_.clear();
  for (const Meeting& m : meetings) {
    Text& out = m.members.message ? messages_ : collectives_;
    out << (out.size() > 0 ? ",\n    " : "    ");
    if (m.members.message)
      out << "{\"from\": " << m.members.at(0) << ", \"to\": " << m.members.at(1) << ", \"k\": " << m.index;
    else
      out << "{\"seq\": " << first_number + static_cast<std::int64_t>(last_starts_.size());
    out << ", \"step\": " << step << ", \"bytes\": " << m.bytes << ", \"transfer_ns\": " << m.transfer_ns
        << ", \"last_rank\": " << m.last_rank << ", \"end\": " << m.end() << ", \"starts\": [";
    for (std::size_t r = 0; r < m.starts.size(); ++r) out << (r > 0 ? ", " : "") << m.starts[r];
    out << "]}";
    last_starts_.push_back(m.last_start);
  }
}

void Truth::step(int rank, const StepRows& rows) {
  const StepLedger l = ledgers_[static_cast<std::size_t>(rank)].add(rows, last_starts_, first_number_);
  lengths_.add(l);
  steps_ << (steps_.size() > 0 ? ",\n    " : "    ") << "{\"rank\": " << rank << ", \"step\": " << l.step
         << ", \"number\": " << l.step + o_.warmup << ", \"length\": " << l.length()
         << ", \"device_start\": " << l.device_start << ", \"device_end\": " << l.device_end
         << ", \"host_start\": " << l.host_start << ", \"host_end\": " << l.host_end
         << ", \"compute\": " << l.compute << ", \"exposed_comm\": " << l.exposed_comm
         << ", \"exposed_copy\": " << l.exposed_copy << ", \"idle\": {";
  for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
    steps_ << (cause > 0 ? ", \"" : "\"") << idle_name(static_cast<Idle>(cause)) << "\": " << l.idle[cause];
  }
  steps_ << "}, \"comm\": " << l.comm << ", \"comm_wait\": " << l.comm_wait
         << ", \"launches\": " << l.launches << ", \"host_work\": " << l.host_work;
  if (o_.stages > 0)
    steps_ << ", \"stage\": " << rank % o_.stages << ", \"only_messages\": " << l.only_messages
           << ", \"bubble\": " << l.bubble();
  steps_ << '}';
}

void Truth::write_options(Text& out) const {
  out << "  \"options\": {\"ranks\": " << o_.ranks << ", \"ranks_per_host\": " << o_.ranks_per_host
      << ", \"steps\": " << o_.steps << ", \"warmup\": " << o_.warmup << ", \"streams\": " << o_.streams
      << ", \"layers\": " << o_.layers << ", \"hidden\": " << o_.hidden << ", \"tokens\": " << o_.tokens
      << ", \"seed\": " << o_.seed << ", \"noise_pct\": ";
  out.decimal(o_.noise_pct) << ", \"host_cost\": ";
  out.decimal(o_.host_cost);
  if (o_.stages > 0) out << ", \"stages\": " << o_.stages << ", \"micro_batches\": " << o_.micro_batches;
  out << "},\n";
  out << "  \"without\": [";
  for (std::size_t i = 0; i < o_.without.size(); ++i) out << (i > 0 ? ", \"" : "\"") << o_.without[i] << '"';
  out << "],\n";
}

void Truth::write_planted(Text& out) const {
  out << "  \"planted\": [";
  const char* separator = "\n";
  for (const Planted& p : planted_problems(o_)) {
    out << separator << "    {\"name\": \"" << p.name << "\", \"size\": ";
    out.decimal(p.size) << ", \"unit\": \"" << p.unit << "\", \"rule\": \"" << p.rule << '"';
    if (p.rank >= 0) out << ", \"rank\": " << p.rank << ", \"phase\": \"" << p.phase << '"';
    out << ", \"program\": \"" << p.program << "\"}";
    separator = ",\n";
  }
  out << "\n  ],\n";
}

void Truth::write_clocks(Text& out) const {
  out << "  \"clocks\": [";
  for (int rank = 0; rank < o_.ranks; ++rank) {
    const Clock clock = clock_of(o_, rank);
    out << (rank > 0 ? ",\n" : "\n") << "    {\"rank\": " << rank << ", \"host\": \""
        << identity_of(o_, rank).host << "\", \"offset_ns\": " << clock.offset_ns
        << ", \"drift_ppb\": " << clock.drift_ppb
        << ", \"window_start\": " << window_starts_[static_cast<std::size_t>(rank)] << '}';
  }
  out << "\n  ],\n";
}

void Truth::write_savings(Text& out) const {
  const std::int64_t with = lengths_.median(), mean = lengths_.mean();
  out << "  \"step_ns\": " << with << ",\n  \"mean_ns\": " << mean << ",\n  \"savings\": [";
  std::set<std::string> names;
  for (const Planted& p : planted_problems(o_)) names.insert(p.name);
  if (!names.empty()) names.insert("all");
  const char* separator = "\n";
  for (const std::string& name : names) {
    const StepLengths repair = step_lengths_of(repaired(o_, name));
    out << separator << "    {\"without\": \"" << name << "\", \"step_ns\": " << repair.median()
        << ", \"saving_ns\": " << with - repair.median() << ", \"mean_ns\": " << repair.mean()
        << ", \"mean_saving_ns\": " << mean - repair.mean() << '}';
    separator = ",\n";
  }
  out << "\n  ]\n";
}

std::string Truth::finish() {
  Text out;
  out << "{\n  \"stepscope_truth\": 1,\n  \"stepscope_generated\": true,\n  \"t0_ns\": "
      << dialect_of(o_.dialect).epoch_ns << ",\n";
  write_options(out);
  write_planted(out);
  write_clocks(out);
  out << kDefinitions << "  \"steps\": [\n"
      << steps_.view() << "\n  ],\n  \"collectives\": [\n"
      << collectives_.view() << "\n  ],\n";
  if (o_.stages > 0)
    out << "  \"bubble\": \"only_messages, when nothing runs but sends and receives, + all of idle\",\n  "
           "\"messages\": [\n"
        << messages_.view() << "\n  ],\n";
  write_savings(out);
  out << "}\n";
  return std::string(out.view());
}

}  // namespace stepscope::make_trace

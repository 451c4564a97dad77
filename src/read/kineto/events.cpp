#include "read/kineto/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "read/kineto/document.h"

namespace stepscope::read {
namespace {

/// The result of one pass over a file.
struct Pass {
  std::vector<Batch> batches;
  std::vector<Vocabulary> words;
  TopLevel top_level;
  std::int64_t text_bytes = 0;
  bool complete = false;
};

template <class List>
constexpr bool is_lines = std::is_same_v<List, EventLines>;

/// Whether the text ended where it may end.
template <class List>
bool ended(const DocumentParser<EventParser, List>& parser) {
  return parser.place == (is_lines<List> ? Place::events : Place::done) && !parser.lost();
}

/// One thread; unread text moves on to the next block. Right for any document.
template <class List>
Pass read_serially(ByteSource& source, const KinetoOptions& options, const EventRules& rules) {
  Pass pass;
  pass.words.resize(1);
  BlockReader reader(source, false, options.blocks);
  DocumentParser<EventParser, List> parser(pass.words[0], rules);
  if constexpr (is_lines<List>) parser.start_at(Place::events);
  Block block;
  while (reader.next(block)) {
    Batch batch;
    batch.index = block.index;
    parse_next(parser, reader, block, options.blocks.most, batch);
    parser.end_batch(batch);
    pass.batches.push_back(std::move(batch));
    if (options.progress) options.progress(reader.stored_position());
  }
  pass.top_level = std::move(parser.top_level);
  pass.text_bytes = reader.bytes_read();
  pass.complete = ended(parser);
  return pass;
}

/// Several threads, each proving where the next block begins. Nothing when a guess was wrong, or when one
/// thread would not have had room for all schemas.
template <class List>
std::optional<Pass> read_in_parallel(ByteSource& source, const KinetoOptions& options,
                                     const EventRules& rules) {
  Pass pass;
  pass.words.resize(options.threads);
  BlockReader reader(source, true, options.blocks);
  std::mutex mutex;
  std::map<std::uint32_t, TopLevel> top_level;
  std::atomic<bool> wrong{false};
  std::atomic<std::int64_t> wasted{0};
  const auto work = [&](std::size_t thread) {
    DocumentParser<EventParser, List> parser(pass.words[thread], rules);
    Block block;
    while (!wrong && reader.next(block)) {
      Batch batch;
      batch.index = block.index;
      batch.vocabulary = static_cast<std::uint32_t>(thread);
      parser.start_at(block.index == 0 && !is_lines<List> ? Place::start : Place::events);
      if (!parse_alone(parser, block, batch)) wrong = true;
      if ((wasted += parser.wasted()) > kFreeWaste) wrong = true;
      parser.end_batch(batch);
      const std::lock_guard lock(mutex);
      top_level[block.index] = std::move(parser.top_level);
      if (block.last) pass.complete = ended(parser);
      pass.batches.push_back(std::move(batch));
      if (options.progress) options.progress(reader.stored_position());
    }
  };
  parallel_for(options.threads, options.threads, work);
  if (wrong || may_be_full(pass.words)) return std::nullopt;
  pass.text_bytes = reader.bytes_read();
  for (auto& [index, entries] : top_level)
    for (auto& entry : entries) pass.top_level.push_back(std::move(entry));
  std::sort(pass.batches.begin(), pass.batches.end(),
            [](const Batch& a, const Batch& b) { return a.index < b.index; });
  return pass;
}

void count_reading(trace::Rank& rank, const Pass& pass, const ByteSource& source, const EventFormat& format) {
  trace::Reading& reading = rank.reading;
  reading.format = format.name;
  reading.text_bytes = pass.text_bytes;
  reading.complete = pass.complete;
  reading.losses = source.fault_count;
  reading.lost_bytes = source.lost_bytes;
  for (const ByteFault& fault : source.faults)
    reading.first_losses.push_back({fault.offset, fault.bytes, fault.reason});
  for (const Batch& batch : pass.batches) {
    reading.events += batch.listed;
    reading.losses += batch.loss_count;
    reading.lost_bytes += batch.lost_bytes;
    reading.clamped_times += batch.clamped_times;
    reading.crowded_args += batch.crowded_args;
    reading.aggregated += batch.aggregated;
    for (const trace::Loss& loss : batch.losses) describe(reading.first_losses, loss);
  }
}

/// An Error if the file has nothing to analyse, or more than can be indexed.
std::optional<Error> nothing_read(const trace::Rank& rank, const Pass& pass, const EventFormat& format) {
  const std::string expected = fmt::format("; {} was expected", format.expected);
  const trace::Reading& reading = rank.reading;
  if (reading.text_bytes == 0 && reading.losses == 0)
    return Error{"the file is empty; the job may have been stopped before the profiler wrote it", rank.path};
  const bool damaged = !reading.first_losses.empty();
  const std::int64_t byte = damaged ? reading.first_losses.front().byte : -1;
  const std::string why = damaged ? ": " + reading.first_losses.front().reason : "";
  if (reading.events == 0)
    return Error{"no event could be read" + (damaged ? why : ": the document holds none") + expected,
                 rank.path, byte};
  std::size_t rows = 0, values = 0;
  for (const Batch& batch : pass.batches) rows += batch.rows.size() + batch.halves.size();
  for (const Vocabulary& words : pass.words) values += words.values.room() + words.half_values.room();
  if (rows == 0)
    return Error{"none of the events in the file has a usable time" + why + expected, rank.path, byte};
  if (values >= 0xFFFFFFFF || rows >= 0xFFFFFFFF)
    return Error{
        "the file holds more than 4 billion events or args, more than this version can index; record fewer "
        "steps",
        rank.path};
  return std::nullopt;
}

/// All of the file's events, and the source that they came from.
template <class List>
Result<Pass> read_events(const Reopen& reopen, const KinetoOptions& options, const EventRules& rules,
                         std::unique_ptr<ByteSource>& source) {
  const auto open = [&]() -> std::optional<Error> {
    auto opened = reopen();
    if (!opened) return opened.error();
    source = std::move(*opened);
    return std::nullopt;
  };
  if (auto error = open()) return *error;
  if (options.threads > 1 && source->reopens) {
    if (auto pass = read_in_parallel<List>(*source, options, rules)) return std::move(*pass);
    if (auto error = open()) return *error;
  }
  return read_serially<List>(*source, options, rules);
}

}  // namespace

Result<ParsedEvents> parse_events(const std::string& path, const Reopen& reopen, const KinetoOptions& options,
                                  const EventRules& rules, const EventFormat& format) {
  std::unique_ptr<ByteSource> source;
  auto pass = rules.lines ? read_events<EventLines>(reopen, options, rules, source)
                          : read_events<ChromeList>(reopen, options, rules, source);
  if (!pass) return pass.error();
  ParsedEvents events;
  events.file.rank.path = path == "-" ? "standard input" : path;
  count_reading(events.file.rank, *pass, *source, format);
  if (auto error = nothing_read(events.file.rank, *pass, format)) return *error;
  events.file.batches = std::move(pass->batches);
  events.file.words = std::move(pass->words);
  events.top_level = std::move(pass->top_level);
  return events;
}

}  // namespace stepscope::read

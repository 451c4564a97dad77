// Goes through the events of one source in blocks that threads fetch in turn; the text is never held whole.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

#include "base/byte_source.h"
#include "base/parallel.h"
#include "merge/event_text.h"
#include "read/blocks.h"
#include "read/kineto/document.h"

namespace stepscope::merge {

struct WalkOptions {
  unsigned threads = 1;
  bool guess = true;   ///< cut blocks where an event is guessed to end, so that threads can share the work
  bool lines = false;  ///< one event per line, without a document around them
  read::BlockSizes blocks;
};

struct Walked {
  read::TopLevel top_level;  ///< of documents read by one thread, or with all keys before and after the list
  std::int64_t text_bytes = 0;
  bool complete = false;
  trace::Breaches breaches;   ///< of strict JSON, in all of the text
  bool guessed_right = true;  ///< false: discard the results and walk again without guessing
};

namespace detail {

template <class List>
inline constexpr bool is_lines = std::is_same_v<List, read::EventLines>;

template <class Events, class List>
void start(read::DocumentParser<Events, List>& parser, const read::Block& block) {
  parser.start_at(block.index == 0 && !is_lines<List> ? read::Place::start : read::Place::events);
}

/// Whether the text ended where it may end.
template <class Events, class List>
bool whole(const read::DocumentParser<Events, List>& parser) {
  return !parser.lost() && parser.place == (is_lines<List> ? read::Place::events : read::Place::done);
}

}  // namespace detail

/// One thread; unread text moves on to the next block. Right for any document.
template <class Sink, class List, class Make, class Use>
Walked walk_serially(ByteSource& source, const WalkOptions& options, Make make, Use use) {
  Walked walked;
  read::BlockReader reader(source, false, options.blocks);
  read::DocumentParser<ScannedEvents<Sink>, List> parser;
  read::Block block;
  while (reader.next(block)) {
    if (block.index == 0) detail::start(parser, block);
    Sink sink = make(block.index);
    read::parse_next(parser, reader, block, options.blocks.most, sink);
    use(std::move(sink), block.index, reader.stored_position());
  }
  walked.top_level = std::move(parser.top_level);
  walked.text_bytes = reader.bytes_read();
  walked.complete = detail::whole(parser);
  walked.breaches = parser.breaches();
  return walked;
}

/// Several threads, each proving where the next block begins.
template <class Sink, class Make, class Use, class Fail>
Walked walk_in_parallel(ByteSource& source, const WalkOptions& options, Make make, Use use, Fail fail) {
  Walked walked;
  read::BlockReader reader(source, true, options.blocks);
  std::mutex mutex;
  std::atomic<bool> wrong{false};
  std::atomic<std::int64_t> wasted{0};
  const auto read_block = [&](read::DocumentParser<ScannedEvents<Sink>>& parser, const read::Block& block) {
    detail::start(parser, block);
    Sink sink = make(block.index);
    if (!read::parse_alone(parser, block, sink)) wrong = true;
    if ((wasted += parser.wasted()) > read::kFreeWaste) wrong = true;
    {
      const std::lock_guard lock(mutex);
      for (auto& entry : parser.top_level) walked.top_level.push_back(std::move(entry));
      if (block.last) walked.complete = detail::whole(parser);
    }
    use(std::move(sink), block.index, reader.stored_position());
  };
  parallel_for(options.threads, options.threads, [&](std::size_t) {
    read::DocumentParser<ScannedEvents<Sink>> parser;
    read::Block block;
    try {
      while (!wrong && reader.next(block)) read_block(parser, block);
      const std::lock_guard lock(mutex);
      walked.breaches.add(parser.breaches());
    } catch (...) {
      wrong = true;
      fail();
      throw;
    }
  });
  walked.guessed_right = !wrong;
  walked.text_bytes = reader.bytes_read();
  return walked;
}

/// `make(index)` returns a sink for the events of a block; blocks are the same in each walk with these
/// options. `use(sink, index, stored bytes read)` takes the sink when the block is done, from any thread and,
/// with several, in any order; it also takes blocks after a wrong guess. `fail()`: a block will never come,
/// as memory ran out; the exception follows.
template <class Sink, class Make, class Use, class Fail>
Walked walk(ByteSource& source, const WalkOptions& options, Make make, Use use, Fail fail) {
  if (options.lines) return walk_serially<Sink, read::EventLines>(source, options, make, use);
  return options.guess && options.threads > 1
             ? walk_in_parallel<Sink>(source, options, make, use, fail)
             : walk_serially<Sink, read::ChromeList>(source, options, make, use);
}

}  // namespace stepscope::merge

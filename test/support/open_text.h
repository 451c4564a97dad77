// Traces from text in memory, for tests and fuzzing.
#pragma once

#include <zlib.h>

#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "derive/derive.h"
#include "read/kineto/kineto.h"
#include "read/pfw/pfw.h"
#include "trace/trace.h"

namespace stepscope::test {

struct ReadAs {
  unsigned threads = 1;
  read::BlockSizes blocks;
};

inline read::KinetoOptions options_of(const ReadAs& as) {
  read::KinetoOptions options;
  options.threads = as.threads;
  options.blocks = as.blocks;
  return options;
}

/// Seals and derives the file as the only rank of a Trace.
inline Result<trace::Trace> trace_of(Result<read::ParsedFile> parsed, const ReadAs& as) {
  if (!parsed) return parsed.error();
  trace::Trace trace;
  read::seal(trace, std::move(*parsed), as.threads);
  for (trace::Rank& rank : trace.ranks) derive::fill(trace, rank);
  return trace;
}

/// Parses, seals and derives `bytes` (JSON text, or gzip of it) as the only rank of a Trace.
inline Result<trace::Trace> open_text(std::string_view bytes, const ReadAs& as = {}) {
  const auto reopen = [&] { return Result(memory_bytes(bytes.data(), bytes.size())); };
  return trace_of(read::parse_kineto("text", reopen, options_of(as)), as);
}

/// The same for lines of events, as DFTracer writes them.
inline Result<trace::Trace> open_lines(std::string_view bytes, const ReadAs& as = {}) {
  const auto reopen = [&] { return Result(memory_bytes(bytes.data(), bytes.size())); };
  auto source = memory_bytes(bytes.data(), bytes.size());
  return trace_of(read::parse_pfw("text", peek(source, 1 << 16), reopen, options_of(as)), as);
}

/// One gzip member.
inline std::string gzip(std::string_view text, int level = 6) {
  z_stream stream{};
  deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// The rest of `source`, read in pieces.
inline std::string drained(ByteSource& source, std::size_t piece = 1000) {
  std::string all, part(piece, '\0');
  for (std::size_t n; (n = source.read(part.data(), piece)) != 0;) all.append(part, 0, n);
  return all;
}

}  // namespace stepscope::test

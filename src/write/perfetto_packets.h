// Packets of one sequence, with the texts that they refer to defined before they are used.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"
#include "write/perfetto_fields.h"

namespace stepscope::write {

class PerfettoPackets {
 public:
  PerfettoPackets(const trace::StringPool& strings, std::uint32_t sequence,
                  std::function<bool(std::string_view)> put)
      : strings_(strings), sequence_(sequence), put_(std::move(put)) {}

  /// The kinds of text that have numbers of their own.
  enum class Texts : std::uint8_t { category, event_name, annotation_name, annotation_text };

  /// Says at what instant both clocks of the file are read; the file's first packet.
  void clocks(std::int64_t unix_ns);
  /// A finished TrackDescriptor message.
  void describe(std::string_view descriptor);
  /// To be called before an event's first number_of.
  void begin_event() { refresh_if_due(); }
  /// The number by which the next event may name this text.
  std::uint64_t number_of(Texts kind, trace::StringId text);
  /// A finished TrackEvent message.
  void event(std::int64_t unix_ns, std::string_view message);
  bool closed() const { return closed_; }
  void flush();

 private:
  void packet(std::string_view body);
  void refresh_if_due();

  static constexpr std::size_t kKinds = 4;
  const trace::StringPool& strings_;
  const std::uint32_t sequence_;
  std::function<bool(std::string_view)> put_;
  std::array<std::vector<bool>, kKinds> defined_;  // by text
  std::string interned_;                           // definitions for the next packet
  std::string out_, body_;
  std::size_t since_refresh_ = 0;
  bool started_ = false, closed_ = false;
};

}  // namespace stepscope::write

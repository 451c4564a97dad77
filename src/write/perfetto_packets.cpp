#include "write/perfetto_packets.h"

#include "report/utf8.h"
#include "write/protobuf.h"

namespace stepscope::write {

using namespace fields;

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;
/// After this many bytes all texts are defined again: a reader that lost packets can continue from there.
constexpr std::size_t kRefresh = std::size_t{64} << 20;

constexpr Field kFieldOf[] = {Interned::category, Interned::event_name, Interned::annotation_name,
                              Interned::annotation_text};

}  // namespace

void PerfettoPackets::packet(std::string_view body) {
  put_bytes(kPacketOfTrace, body, out_);
  since_refresh_ += body.size();
  if (out_.size() >= kPiece) flush();
}

void PerfettoPackets::flush() {
  if (!closed_ && !out_.empty()) closed_ = !put_(out_);
  out_.clear();
}

void PerfettoPackets::clocks(std::int64_t unix_ns) {
  std::string snapshot;
  for (const int id : {ClockSnapshot::realtime, ClockSnapshot::boottime}) {
    std::string clock;
    put_integer(ClockSnapshot::clock_id, id, clock);
    put_integer(ClockSnapshot::time, unix_ns, clock);
    put_bytes(ClockSnapshot::clock, clock, snapshot);
  }
  put_integer(ClockSnapshot::primary, ClockSnapshot::realtime, snapshot);
  body_.clear();
  put_integer(Packet::sequence, sequence_, body_);
  put_bytes(Packet::clock_snapshot, snapshot, body_);
  packet(body_);
}

void PerfettoPackets::describe(std::string_view descriptor) {
  body_.clear();
  put_integer(Packet::sequence, sequence_, body_);
  put_bytes(Packet::track_descriptor, descriptor, body_);
  packet(body_);
}

/// Makes the first packet, and then one every kRefresh bytes, discard all definitions of texts.
void PerfettoPackets::refresh_if_due() {
  if (started_ && since_refresh_ < kRefresh) return;
  since_refresh_ = 0;
  for (std::vector<bool>& kind : defined_) kind.assign(strings_.size(), false);
  interned_.clear();
  std::string defaults;
  put_integer(Defaults::clock_id, ClockSnapshot::realtime, defaults);
  body_.clear();
  put_integer(Packet::sequence, sequence_, body_);
  put_integer(Packet::flags, Flags::cleared | Flags::needs_state, body_);
  put_bytes(Packet::defaults, defaults, body_);
  if (!started_) put_integer(Packet::first_on_sequence, 1, body_);
  started_ = true;
  packet(body_);
}

std::uint64_t PerfettoPackets::number_of(Texts kind, trace::StringId text) {
  std::vector<bool>& defined = defined_[static_cast<std::size_t>(kind)];
  const std::uint64_t number = std::uint64_t{text} + 1;
  if (defined[text]) return number;
  defined[text] = true;
  std::string entry;
  put_integer(Interned::id, static_cast<std::int64_t>(number), entry);
  put_bytes(Interned::text, report::valid_utf8(strings_[text]), entry);
  put_bytes(kFieldOf[static_cast<std::size_t>(kind)], entry, interned_);
  return number;
}

void PerfettoPackets::event(std::int64_t unix_ns, std::string_view message) {
  if (!started_) refresh_if_due();
  body_.clear();
  put_integer(Packet::timestamp, unix_ns, body_);
  put_integer(Packet::sequence, sequence_, body_);
  put_integer(Packet::flags, Flags::needs_state, body_);
  if (!interned_.empty()) put_bytes(Packet::interned, interned_, body_);
  put_bytes(Packet::track_event, message, body_);
  interned_.clear();
  packet(body_);
}

}  // namespace stepscope::write

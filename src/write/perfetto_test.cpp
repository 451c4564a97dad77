#include "write/perfetto.h"

#include <gtest/gtest.h>

#include "make_rank.h"
#include "write/perfetto_fields.h"
#include "write/protobuf.h"

namespace stepscope::write {
namespace {

using namespace fields;

std::string tag(std::uint32_t field, Wire wire) {
  std::string bytes;
  put_tag(field, wire, bytes);
  return bytes;
}

TEST(Protobuf, TagsAreThePublishedBytes) {
  EXPECT_EQ(tag(kPacketOfTrace, Wire::bytes), "\x0A");
  EXPECT_EQ(tag(Packet::track_event, Wire::bytes), "\x5A");
  EXPECT_EQ(tag(Packet::track_descriptor, Wire::bytes), "\xE2\x03");
  EXPECT_EQ(tag(Packet::timestamp, Wire::varint), "\x40");
  EXPECT_EQ(tag(Packet::sequence, Wire::varint), "\x50");
  EXPECT_EQ(tag(Packet::flags, Wire::varint), "\x68");
  EXPECT_EQ(tag(Packet::interned, Wire::bytes), "\x62");
  EXPECT_EQ(tag(Packet::clock_id, Wire::varint), "\xD0\x03");
  EXPECT_EQ(tag(Packet::defaults, Wire::bytes), "\xDA\x03");
  EXPECT_EQ(tag(TrackEvent::type, Wire::varint), "\x48");
  EXPECT_EQ(tag(TrackEvent::name, Wire::varint), "\x50");
  EXPECT_EQ(tag(TrackEvent::track, Wire::varint), "\x58");
  EXPECT_EQ(tag(TrackEvent::category, Wire::varint), "\x18");
  EXPECT_EQ(tag(TrackEvent::annotation, Wire::bytes), "\x22");
  EXPECT_EQ(tag(TrackEvent::counter_integer, Wire::varint), "\xF0\x01");
  EXPECT_EQ(tag(TrackEvent::counter_double, Wire::fixed64), "\xE1\x02");
  EXPECT_EQ(tag(TrackEvent::flow, Wire::fixed64), "\xF9\x02");
  EXPECT_EQ(tag(TrackEvent::flow_end, Wire::fixed64), "\x81\x03");
}

TEST(Protobuf, NumbersTakeAsManyBytesAsTheyNeed) {
  std::string bytes;
  put_varint(300, bytes);
  EXPECT_EQ(bytes, "\xAC\x02");
  bytes.clear();
  put_integer(4, -1, bytes);
  EXPECT_EQ(bytes.size(), 11u);
}

TEST(Perfetto, WhatDoesNotNestGetsATrackOfItsOwn) {
  const trace::Trace trace = test::open_events(
      R"({"ph":"X","cat":"cpu_op","name":"a","pid":7,"tid":7,"ts":0,"dur":10},
         {"ph":"X","cat":"cpu_op","name":"b","pid":7,"tid":7,"ts":5,"dur":10},
         {"ph":"X","cat":"cpu_op","name":"c","pid":7,"tid":7,"ts":6,"dur":0},
         {"ph":"i","cat":"x","name":"mark","pid":7,"tid":7,"ts":12},
         {"ph":"C","name":"load","pid":7,"tid":7,"ts":12,"args":{"cpu":3,"why":"text"}})");
  PerfettoOptions options;
  options.lane = [](const trace::Track&) { return PerfettoLane{7, 7, "rank 0", 0}; };
  options.time = [](std::int64_t time) { return time; };
  options.id_shift = [](std::string_view) { return 0; };
  std::string file;
  const PerfettoCount count = perfetto(trace, trace.ranks[0], options, [&](std::string_view piece) {
    file += piece;
    return true;
  });
  EXPECT_EQ(count.slices, 3);
  EXPECT_EQ(count.instants, 1);
  EXPECT_EQ(count.counters, 1);
  EXPECT_EQ(count.not_numbers, 1);
  EXPECT_NE(file.find("thread 7 (2)"), std::string::npos);
  EXPECT_EQ(file.find("thread 7 (3)"), std::string::npos);
}

}  // namespace
}  // namespace stepscope::write

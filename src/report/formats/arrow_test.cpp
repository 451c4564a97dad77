#include "report/formats/arrow.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string_view>

namespace stepscope::report {
namespace {

/// Nine rows, so that a bitmap has two bytes; row 1 of each column but the first is missing.
std::shared_ptr<const Table> made_table() {
  auto table = std::make_shared<Table>();
  table->title = "Nine";
  Ints& whole = table->ints("whole", Unit::ns, Role::key);
  Ints& count = table->ints("count", Unit::count);
  Reals& share = table->reals("share", Unit::share, Role::share);
  Texts& name = table->texts("name");
  for (std::int64_t i = 0; i < 9; ++i) {
    whole.push_back(i);
    count.push_back(i == 1 ? kNoInt : i * 10);
    share.push_back(i == 1 ? kNoReal : static_cast<double>(i) / 8);
    name.push_back(i == 1 ? "" : "n" + std::to_string(i));
  }
  name[8] = "\xFF";
  return table;
}

template <class Struct>
struct Released : Struct {
  Released() : Struct{} {}
  ~Released() {
    if (this->release != nullptr) this->release(this);
  }
};

TEST(Arrow, NumbersAreTheColumnsOwnMemory) {
  const auto table = made_table();
  const ArrowTable arrow(table);
  Released<ArrowArray> array;
  arrow.array_to(&array);
  ASSERT_EQ(array.n_children, 4);
  EXPECT_EQ(array.length, 9);
  EXPECT_EQ(array.children[0]->buffers[1], std::get<Ints>(table->columns[0].values).data());
  EXPECT_EQ(array.children[2]->buffers[1], std::get<Reals>(table->columns[2].values).data());
}

TEST(Arrow, ABitmapStandsWhereAValueIsMissing) {
  const ArrowTable arrow(made_table());
  Released<ArrowArray> array;
  arrow.array_to(&array);
  EXPECT_EQ(array.children[0]->null_count, 0);
  EXPECT_EQ(array.children[0]->buffers[0], nullptr);
  for (int i : {1, 2, 3}) {
    EXPECT_EQ(array.children[i]->null_count, 1);
    const auto* bits = static_cast<const std::uint8_t*>(array.children[i]->buffers[0]);
    EXPECT_EQ(bits[0], 0xFD);  // all but the second
    EXPECT_EQ(bits[1], 0x01);
  }
}

TEST(Arrow, TextsAreGatheredAsUtf8) {
  const ArrowTable arrow(made_table());
  Released<ArrowArray> array;
  arrow.array_to(&array);
  const ArrowArray& name = *array.children[3];
  ASSERT_EQ(name.n_buffers, 3);
  const auto* starts = static_cast<const std::int64_t*>(name.buffers[1]);
  const auto* text = static_cast<const char*>(name.buffers[2]);
  EXPECT_EQ(std::string_view(text, static_cast<std::size_t>(starts[9])), "n0n2n3n4n5n6n7\xEF\xBF\xBD");
  EXPECT_EQ(starts[1], 2);
  EXPECT_EQ(starts[2], 2);
  EXPECT_EQ(starts[3], 4);
}

TEST(Arrow, TheSchemaSaysUnitAndRole) {
  const ArrowTable arrow(made_table());
  Released<ArrowSchema> schema;
  arrow.schema_to(&schema);
  EXPECT_STREQ(schema.format, "+s");
  EXPECT_STREQ(schema.children[0]->format, "l");
  EXPECT_STREQ(schema.children[2]->format, "g");
  EXPECT_STREQ(schema.children[3]->format, "U");
  EXPECT_STREQ(schema.children[2]->name, "share");
  const char expected[] = "\2\0\0\0\4\0\0\0unit\2\0\0\0ns\4\0\0\0role\3\0\0\0key";
  EXPECT_EQ(std::memcmp(schema.children[0]->metadata, expected, sizeof expected - 1), 0);
}

TEST(Arrow, WhatIsHandedOutOutlivesTheTableAndItsSiblings) {
  ArrowArray array{};
  ArrowTable(made_table()).array_to(&array);
  ArrowArray taken = *array.children[0];  // a receiver may move a child away
  array.children[0]->release = nullptr;
  array.release(&array);
  EXPECT_EQ(array.release, nullptr);
  EXPECT_EQ(static_cast<const std::int64_t*>(taken.buffers[1])[8], 8);
  taken.release(&taken);
}

TEST(Arrow, AStreamIsOneArrayAndItsEnd) {
  Released<ArrowArrayStream> stream;
  ArrowTable(made_table()).stream_to(&stream);
  Released<ArrowSchema> schema;
  Released<ArrowArray> array, end;
  EXPECT_EQ(stream.get_schema(&stream, &schema), 0);
  EXPECT_EQ(schema.n_children, 4);
  EXPECT_EQ(stream.get_next(&stream, &array), 0);
  EXPECT_EQ(array.length, 9);
  EXPECT_EQ(stream.get_next(&stream, &end), 0);
  EXPECT_EQ(end.release, nullptr);
}

TEST(Arrow, ATableWithoutColumnsHasNoRows) {
  const ArrowTable arrow(std::make_shared<const Table>());
  Released<ArrowArray> array;
  arrow.array_to(&array);
  EXPECT_EQ(array.length, 0);
  EXPECT_EQ(array.n_children, 0);
}

}  // namespace
}  // namespace stepscope::report

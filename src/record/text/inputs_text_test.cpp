// Hand-made signatures with the fields of a collective.
#include "record/text/inputs_text.h"

#include <gtest/gtest.h>

#include <cstring>

#include "record/signature.h"

namespace stepscope::record {
namespace {

class Bytes {
 public:
  template <class T>
  Bytes& put(T value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    all.append(bytes, sizeof value);
    return *this;
  }
  Bytes& number(CollectiveField field, std::int64_t value) {
    return put(field).put(Input::integer).put(value);
  }
  Bytes& text(std::string_view value) {
    put(Input::text).put(static_cast<std::uint16_t>(value.size()));
    all += value;
    return *this;
  }
  std::string all;
};

TEST(InputsText, ACollectiveBesideInputs) {
  Bytes made;
  made.put(Input::collective).put(CollectiveField::name).text("allreduce");
  made.number(CollectiveField::sequence, 7).put(CollectiveField::asynchronous).put(Input::boolean);
  made.put(std::uint8_t{1}).put(CollectiveField::group_ranks).put(Input::list).put(std::uint16_t{3});
  made.put(Input::integer).put(std::int64_t{0}).put(Input::integer).put(std::int64_t{2}).text("...");
  made.put(CollectiveField::end).put(Input::integer).put(std::int64_t{5});
  EXPECT_EQ(inputs_text(made.all),
            R"(, "Collective name": "allreduce", "Seq": 7, "Is asynchronized op": true, )"
            R"("Process Group Ranks": "[0, 2, ...]", "Input Dims": [[]], "Input type": ["Scalar"], )"
            R"("Input Strides": [[]], "Concrete Inputs": ["5"])");
  EXPECT_EQ(input_texts(made.all).dims, "[[]]");  // the collective is not an input
  EXPECT_EQ(without_collective(made.all), std::string_view(made.all).substr(made.all.size() - 9));
  EXPECT_EQ(without_collective(made.all.substr(0, 20)), "");
}

TEST(InputsText, AnEmptyListOfACollective) {
  Bytes made;
  made.put(Input::collective).put(CollectiveField::in_split).put(Input::list).put(std::uint16_t{0});
  EXPECT_EQ(inputs_text(made.put(CollectiveField::end).all), R"(, "In split size": "[]")");
}

TEST(InputsText, ACollectiveThatIsNotWholeSaysNothing) {
  Bytes made;
  made.put(Input::collective).number(CollectiveField::rank, 1);
  for (std::size_t length = 1; length <= made.all.size(); ++length)
    EXPECT_EQ(inputs_text(made.all.substr(0, length)), "") << length;
  made.put(std::uint8_t{99}).put(Input::boolean).put(std::uint8_t{1});  // no such field
  EXPECT_EQ(inputs_text(made.all), "");
}

TEST(InputsText, AFieldThatIsNoNumberOrTextSaysNothing) {
  Bytes made;
  made.put(Input::collective).put(CollectiveField::rank).put(Input::real).put(0.5).put(CollectiveField::end);
  EXPECT_EQ(inputs_text(made.all), "");
}

}  // namespace
}  // namespace stepscope::record

// Hand-made signatures with the fields of a collective.
#include "record/text/inputs_text.h"

#include <gtest/gtest.h>

#include <cmath>
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
  EXPECT_EQ(only_inputs(made.all), std::string_view(made.all).substr(made.all.size() - 9));
  EXPECT_EQ(only_inputs(made.all.substr(0, 20)), "");
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

std::string of_real(double value) { return input_texts(Bytes().put(Input::real).put(value).all).concrete; }

TEST(InputsText, FloatsKeepTheirType) {
  EXPECT_EQ(of_real(3), R"(["3."])");
  EXPECT_EQ(of_real(-20), R"(["-20."])");
  EXPECT_EQ(of_real(0.25), R"(["0.25"])");
  EXPECT_EQ(of_real(1e20), R"(["1e+20"])");
  EXPECT_EQ(of_real(-HUGE_VAL), R"(["-inf"])");
}

/// A tensor of 7 floats.
void put_tensor(Bytes& made) {
  made.put(Input::tensor).put(std::uint8_t{6}).put(std::uint8_t{1}).put(std::uint8_t{1});
  made.put(std::int64_t{7}).put(std::int64_t{1});
}
void put_list_of_tensors(Bytes& made) {
  made.put(Input::list).put(std::uint16_t{2});
  put_tensor(made);
  put_tensor(made);
}

/// A tensor, three lists of two tensors, of which the second and third have remarks, and 1 - 2j.
std::string with_remarks() {
  Bytes made;
  put_tensor(made);
  for (int i = 0; i < 3; ++i) put_list_of_tensors(made);
  made.put(Input::none).put(kRemarks).put(std::uint8_t{3});
  made.put(std::uint8_t{2}).put(Remark::left_out).put(std::uint8_t{3}).put(Remark::no_shapes);
  made.put(std::uint8_t{4}).put(Remark::complex).put(1.0).put(-2.0);
  return made.all;
}

TEST(InputsText, RemarksSayWhatTorchTells) {
  const InputTexts texts = input_texts(with_remarks());
  EXPECT_EQ(texts.dims, "[[7], [[7], [7]], [], [], []]");
  EXPECT_EQ(texts.strides, "[[1], [[1], [1]], [], [], []]");
  EXPECT_EQ(texts.tensor_dims, "[[7], [], [], [], []]");
  EXPECT_EQ(texts.types, R"(["float", "TensorList", "", "TensorList", "Scalar"])");
  EXPECT_EQ(texts.concrete, R"(["", "", "", "", "1.-2.j"])");
}

TEST(InputsText, AllListsThatWereRecorded) {
  const InputTexts texts = input_texts(with_remarks(), ListedInputs::all);
  EXPECT_EQ(texts.dims, "[[7], [[7], [7]], [[7], [7]], [[7], [7]], []]");
  EXPECT_EQ(texts.types, R"(["float", "TensorList", "TensorList", "TensorList", "Scalar"])");
  EXPECT_EQ(texts.concrete, R"(["", "", "", "", "1.-2.j"])");
}

// A remark on an input that is not there, and remarks that are cut off, change nothing else.
TEST(InputsText, RemarksThatAreNotWhole) {
  Bytes made;
  put_tensor(made);
  made.put(kRemarks).put(std::uint8_t{1}).put(std::uint8_t{1}).put(Remark::complex).put(1.0).put(1.0);
  EXPECT_EQ(input_texts(made.all).types, R"(["float"])");
  const std::string whole = with_remarks();
  for (std::size_t cut = 1; cut <= 26; ++cut)
    EXPECT_EQ(input_texts(whole.substr(0, whole.size() - cut)).types.substr(0, 9), R"(["float",)") << cut;
}

}  // namespace
}  // namespace stepscope::record

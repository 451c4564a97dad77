// Call and Tally: the input and the result of an op family's work function. A Tally adds up FLOPs and bytes
// as Amounts, so an unknown part makes only its own total unknown.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "derive/work/work.h"

namespace stepscope::derive {

/// One op to be counted. `detail` is the number in the op's row of the table; its meaning depends on the
/// function.
struct Call {
  std::string_view name;
  const OpArgs& args;
  Convention convention;
  const WorkHints& hints;
  int detail = 0;

  const Arg& at(std::int64_t i) const { return args.at(i); }
  bool in_place() const { return name.ends_with('_') && !name.ends_with("__"); }
};

inline constexpr std::string_view kNoShapes = "shapes were not recorded (record_shapes=True records them)";
inline constexpr std::string_view kNoConcrete = "a scalar argument that decides the amount was not recorded";
inline constexpr std::string_view kNoListSizes = "the sizes of the tensor list were not recorded";
inline constexpr std::string_view kNoElementType = "an element type was not recorded";
inline constexpr std::string_view kMalformed = "malformed: the recorded sizes contradict each other";
inline constexpr std::string_view kTooLarge = "the amount does not fit into 63 bits";
inline constexpr std::string_view kNotModelled = "no formula for this op";

/// Work with nothing known and the reason. `reason` is static text.
Work unknown_work(std::string_view reason);

class Tally {
 public:
  Tally(const Call& call, DType compute) : call_(call) { work_.compute = compute; }

  /// matrix() and vector() add the product of the factors.
  void matrix(std::initializer_list<Amount> factors) { matrix_ += product(factors); }
  void vector(std::initializer_list<Amount> factors) { vector_ += product(factors); }
  void read(Amount bytes) { read_ += bytes; }
  void write(Amount bytes) { written_ += bytes; }
  void read(const Arg& tensor) { read_ += touched_bytes(tensor); }
  /// Reads the argument if it is a tensor; None and scalars cost nothing.
  void read_optional(const Arg& arg) {
    if (arg.kind == ArgKind::tensor) read(arg);
  }
  void bytes_unknown(std::string_view reason);
  void estimated() { work_.estimated = true; }
  void bytes_upper_bound() { work_.bytes_upper_bound = true; }
  void sparse() { work_.sparse = true; }

  Work work() const;

 private:
  static Amount product(std::initializer_list<Amount> factors);

  const Call& call_;
  Work work_;
  Amount matrix_ = 0;
  Amount vector_ = 0;
  Amount read_ = 0;
  Amount written_ = 0;
  std::string_view byte_reason_ = kNoElementType;
};

}  // namespace stepscope::derive

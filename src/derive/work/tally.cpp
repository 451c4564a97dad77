#include "derive/work/tally.h"

namespace stepscope::derive {

Work unknown_work(std::string_view reason) {
  Work work;
  work.unknown_reason = reason;
  return work;
}

Amount Tally::product(std::initializer_list<Amount> factors) {
  Amount result = 1;
  for (const Amount factor : factors) {
    if (factor.known() && factor.value() == 0) return 0;
    result *= factor;
  }
  return result;
}

void Tally::bytes_unknown(std::string_view reason) {
  read_ = Amount::unknown();
  byte_reason_ = reason;
}

Work Tally::work() const {
  Work work = work_;
  const Amount flops = matrix_ + vector_;
  const bool impossible = matrix_.value() < 0 || vector_.value() < 0;
  work.flops_known = flops.known() && !impossible;
  if (work.flops_known) {
    work.matrix_flops = matrix_.value();
    work.vector_flops = call_.convention == Convention::torch ? 0 : vector_.value();
  } else {
    work.unknown_reason = impossible ? kMalformed : kTooLarge;
  }
  const Amount bytes = read_ + written_;
  work.bytes_known = bytes.known() && read_.value() >= 0 && written_.value() >= 0;
  if (work.bytes_known) {
    work.bytes_read = read_.value();
    work.bytes_written = written_.value();
  } else if (work.flops_known) {
    work.unknown_reason = byte_reason_;
  }
  return work;
}

}  // namespace stepscope::derive

#include "derive/work/tally.h"

namespace stepscope::derive {

Work unknown_work(std::string_view reason) {
  Work work;
  work.unknown_reason = reason;
  return work;
}

Amount sized(Amount count, DType type) {
  const std::int64_t bytes = bytes_per_element(type);
  return bytes == 0 ? Amount::unknown() : count * bytes;
}

Amount Tally::product(std::initializer_list<Amount> factors) {
  Amount result = 1;
  for (const Amount factor : factors) {
    if (factor.known() && factor.value() == 0) return 0;
    result *= factor;
  }
  return result;
}

void Tally::write_formula(std::initializer_list<Amount> factors, bool is_matrix) {
  if (call_.formula == nullptr || (formula_is_matrix_ && !is_matrix)) return;
  std::string& text = *call_.formula;
  if (is_matrix && !formula_is_matrix_) text.clear();
  formula_is_matrix_ = formula_is_matrix_ || is_matrix;
  if (!text.empty()) text += " + ";
  bool first = true;
  for (const Amount factor : factors) {
    if (!first) text += "·";
    text += factor.known() ? std::to_string(factor.value()) : "?";
    first = false;
  }
}

void Tally::matrix(std::initializer_list<Amount> factors) {
  matrix_ += product(factors);
  write_formula(factors, true);
}

void Tally::recomputed(std::initializer_list<Amount> factors) {
  recomputed_ += product(factors);
  write_formula(factors, true);
}

void Tally::vector(std::initializer_list<Amount> factors) {
  vector_ += product(factors);
  write_formula(factors, false);
}

void Tally::bytes_unknown(std::string_view reason) {
  read_ = Amount::unknown();
  byte_reason_ = reason;
}

void Tally::bounds(Amount low, Amount high) {
  low_ = low;
  high_ = high;
  work_.estimated = true;
}

Work Tally::work() const {
  Work work = work_;
  const Amount matrix = matrix_ + recomputed_;
  const Amount flops = matrix + vector_;
  const bool impossible = matrix_.value() < 0 || recomputed_.value() < 0 || vector_.value() < 0;
  work.flops_known = flops.known() && !impossible;
  if (work.flops_known) {
    work.matrix_flops = matrix.value();
    work.model_flops = matrix_.value();
    work.vector_flops = call_.convention == Convention::torch ? 0 : vector_.value();
    work.matrix_flops_low = low_.known() ? low_.value() : work.matrix_flops;
    work.matrix_flops_high = high_.known() ? high_.value() : work.matrix_flops;
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

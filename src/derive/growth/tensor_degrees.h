// How the number of elements of a tensor depends on the batch size and the sequence length, judged by the
// shapes in one recording.
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "trace/trace.h"

namespace stepscope::derive {

/// The sizes that the program ran with. 0: not known.
struct RecordedSizes {
  std::int64_t batch = 0, sequence = 0;
};

/// Elements ∝ batch^batch · sequence^sequence.
struct Degree {
  std::int8_t batch = 0, sequence = 0;
  friend auto operator<=>(const Degree&, const Degree&) = default;
};

/// The degrees between which the true one lies; equal if the recording is clear.
struct DegreeRange {
  Degree low, high;
};

using Dims = std::vector<std::int64_t>;

/// A dimension counts as the batch if it is the batch size, or that times other dimensions of a tensor which
/// has the batch as one of its first two dimensions, and is no dimension of a parameter; likewise the
/// sequence. A shape that a parameter has does not grow. If the rows of a matrix that a linear layer takes or
/// gives may be the batch but are also a dimension of a parameter, the range is open. Two last dimensions of
/// the sequence's size are the sequence twice if another tensor has the same dimensions before them and only
/// one of them; else one may be another size that happens to be equal. O(rows), each distinct shape once.
class TensorDegrees {
 public:
  TensorDegrees(const trace::Trace& trace, const trace::Rank& rank, RecordedSizes sizes);

  /// False: the recording has no shapes, and of() knows nothing.
  bool has_shapes() const { return has_shapes_; }
  DegreeRange of(std::span<const std::int64_t> dims) const;
  bool is_parameter(std::span<const std::int64_t> dims) const;
  /// Bytes of the weights that operators take and that get no gradient, each distinct shape once: at least
  /// what a program that only evaluates, or a frozen part of a model, holds.
  std::int64_t weights_without_gradient() const { return weights_without_gradient_; }

 private:
  struct Axis {
    std::int64_t size = 0;
    std::set<std::int64_t> products;  ///< dimensions that the size is a factor of, and none of a parameter
    std::set<std::int64_t>
        colliding;                  ///< numbers of rows that it is a factor of, and a parameter's dimension
    bool is_of_parameters = false;  ///< a parameter has a dimension of this size
  };

  /// Number of first dimensions that may be the size itself.
  std::size_t searched(const Axis& axis, const Dims& dims) const;
  void find_products(Axis& axis) const;
  void find_splits(Axis& axis) const;
  void find_squares();
  std::int8_t batch_degree(const Dims& dims) const;
  void add_sequence(const Dims& dims, DegreeRange& to) const;

  std::set<Dims> parameters_, shapes_;
  std::set<Dims> data_;                   ///< matrices that linear layers take and give
  std::set<std::int64_t> of_parameters_;  ///< dimensions
  std::set<Dims>
      beside_sequence_;  ///< dimensions before the last two, which are the sequence and another size
  Axis batch_, sequence_;
  bool has_shapes_;
  std::int64_t weights_without_gradient_ = 0;
};

/// The batch size, as far as shapes tell: of the first dimensions that are usual, the one that divides the
/// first dimensions of most shapes which are not parameters'. 0 without shapes.
std::int64_t likely_batch(const trace::Trace& trace, const trace::Rank& rank);

}  // namespace stepscope::derive

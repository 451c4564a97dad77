// Student's t distribution.
#pragma once

namespace stepscope::compare {

/// P(|T| > t) with `freedom` degrees of freedom, t ≥ 0.
double t_beyond(double t, double freedom);

/// The t with P(|T| > t) = `alpha`.
double t_critical(double alpha, double freedom);

}  // namespace stepscope::compare

#include "report/palette.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <string>

namespace stepscope::report {
namespace {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

Triple times(const Matrix& matrix, const Triple& v) {
  Triple out{};
  for (std::size_t i = 0; i < 3; ++i)
    out[i] = matrix[i][0] * v[0] + matrix[i][1] * v[1] + matrix[i][2] * v[2];
  return out;
}

/// "#A25D4D" as linear light.
Triple linear(std::string_view hex) {
  Triple out{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double c = std::stoi(std::string(hex.substr(1 + 2 * i, 2)), nullptr, 16) / 255.0;
    out[i] = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  }
  return out;
}

/// Björn Ottosson's OKLab, 2020.
Triple oklab(Triple rgb) {
  for (double& c : rgb) c = std::min(1.0, std::max(0.0, c));
  Triple lms = times({{{0.4122214708, 0.5363325363, 0.0514459929},
                       {0.2119034982, 0.6806995451, 0.1073969566},
                       {0.0883024619, 0.2817188376, 0.6299787005}}},
                     rgb);
  for (double& c : lms) c = std::cbrt(c);
  return times({{{0.2104542553, 0.7936177850, -0.0040720468},
                 {1.9779984951, -2.4285922050, 0.4505937099},
                 {0.0259040371, 0.7827717662, -0.8086757660}}},
               lms);
}

/// Machado, Oliveira and Fernandes, 2009, at full severity: normal, protan, deutan, tritan.
constexpr Matrix kVisions[] = {
    {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},
    {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
    {{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}}};

double least_distance(std::string_view a, std::string_view b) {
  double least = 100;
  for (const Matrix& vision : kVisions) {
    const Triple x = oklab(times(vision, linear(a))), y = oklab(times(vision, linear(b)));
    least = std::min(least, 100 * std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]));
  }
  return least;
}

TEST(Palette, ColoursAreToldApartByEveryEye) {
  for (int a = 0; a < kFamilies; ++a) {
    for (int b = 0; b < a; ++b) {
      const auto first = static_cast<Family>(a), second = static_cast<Family>(b);
      const auto grey = [](Family f) { return f == Family::waiting || f == Family::other; };
      if (grey(first) || grey(second)) continue;
      const Paint &x = paint_of(first), &y = paint_of(second);
      EXPECT_GE(least_distance(x.light, y.light), 9) << x.name << " " << y.name;
      EXPECT_GE(least_distance(x.dark, y.dark), 9) << x.name << " " << y.name;
    }
  }
}

TEST(Palette, HatchesDiffer) {
  std::set<std::string_view> cells, hatches, names;
  std::set<int> terminal;
  for (int i = 0; i < kFamilies; ++i) {
    const Paint& paint = paint_of(static_cast<Family>(i));
    cells.insert(paint.cell);
    hatches.insert(paint.hatch);
    names.insert(paint.name);
    terminal.insert(paint.terminal);
  }
  EXPECT_EQ(cells.size(), std::size_t{kFamilies});
  EXPECT_EQ(hatches.size(), std::size_t{kFamilies});
  EXPECT_EQ(names.size(), std::size_t{kFamilies});
  EXPECT_EQ(terminal.size(), std::size_t{kFamilies});
}

TEST(Palette, KnowsTheWordsOfTheAnalyses) {
  EXPECT_EQ(family_of("kernel"), Family::compute);
  EXPECT_EQ(family_of("exposed_communication"), Family::communication);
  EXPECT_EQ(family_of("Data Loader"), Family::data);
  EXPECT_EQ(family_of("memcpy"), Family::copy);
  EXPECT_EQ(family_of("memset"), Family::fill);
  EXPECT_EQ(family_of("transfer"), Family::communication);
  EXPECT_EQ(family_of("pending"), Family::waiting);
  EXPECT_EQ(family_of("cpu_exec"), Family::host);
  EXPECT_EQ(family_of("idle"), Family::waiting);
  EXPECT_EQ(family_of("other"), Family::other);
}

TEST(Palette, EveryPartOfAStepLooksDifferent) {
  std::set<Family> seen;
  for (const char* role :
       {"kernel", "memcpy", "memset", "communication", "runtime", "data_loader", "cpu_exec", "other"})
    seen.insert(family_of(role));
  EXPECT_EQ(seen.size(), 8u);
}

}  // namespace
}  // namespace stepscope::report

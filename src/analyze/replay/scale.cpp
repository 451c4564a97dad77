#include "analyze/replay/scale.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "report/suggest.h"

namespace stepscope::analyze {
namespace {

using What = Scale::What;

struct Word {
  std::string_view word;
  What what;
  bool named;
};
constexpr std::array kWords = {
    Word{"data_loading", What::data_loading, false},
    Word{"sync", What::sync, false},
    Word{"alloc", What::alloc, false},
    Word{"launch", What::launch, false},
    Word{"compute", What::compute, false},
    Word{"plain_cores", What::plain_cores, false},
    Word{"fp64", What::fp64, false},
    Word{"comm", What::comm, false},
    Word{"copy", What::copy, false},
    Word{"kernel", What::kernel, true},
    Word{"kind", What::kind, true},
    Word{"host", What::all_host, false},
    Word{"host", What::host, true},
    Word{"loop", What::loop, true},
    Word{"waiting", What::waiting, true},
    Word{"quiet", What::quiet, true},
    Word{"device", What::device, true},
    Word{"op", What::op, true},
    Word{"call", What::call, true},
    Word{"straggler", What::straggler, true},
};
constexpr double kMaxFactor = 1000;
constexpr std::size_t kMaxScales = 100;

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(at, from), text.size());
    if (const std::string_view part = trimmed(text.substr(from, end - from)); !part.empty())
      parts.push_back(part);
    from = end + 1;
  }
  return parts;
}

Result<Scale> parse_scale(std::string_view text) {
  Scale scale;
  const std::size_t equals = text.rfind('=');
  const std::string_view number = equals == std::string_view::npos ? "" : trimmed(text.substr(equals + 1));
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), scale.factor);
  if (number.empty() || error != std::errc{} || end != number.data() + number.size() ||
      !(scale.factor >= 0 && scale.factor <= kMaxFactor))
    return Error{fmt::format("'{}' needs a factor from 0 to 1000 after '=', e.g. comm=0", text), "", -1};
  const std::string_view left = trimmed(text.substr(0, equals));
  const std::size_t colon = std::min(left.find(':'), left.size());
  const auto fits = [&](const Word& w, bool named) {
    return w.word == left.substr(0, colon) && w.named == named;
  };
  const bool with_name = colon < left.size();
  auto known = std::find_if(kWords.begin(), kWords.end(), [&](const Word& w) { return fits(w, with_name); });
  if (known == kWords.end())
    known = std::find_if(kWords.begin(), kWords.end(), [&](const Word& w) { return fits(w, !with_name); });
  if (known != kWords.end() && known->named && colon + 1 >= left.size())
    return Error{fmt::format("'{0}' needs a name: {1}:NAME, or {1}:/a|b/ for names that contain a or b", left,
                             known->word),
                 "", -1};
  if (known != kWords.end() && !known->named && colon < left.size())
    return Error{fmt::format("'{}': {} takes no name", left, known->word), "", -1};
  if (known == kWords.end()) {
    std::vector<std::string> words, with_names;
    for (const Word& w : kWords) {
      words.emplace_back(w.word);
      with_names.push_back(fmt::format("{}{}", w.word, w.named ? ":NAME" : ""));
    }
    return Error{fmt::format("'{}' is not one of {}.{}", left, fmt::join(with_names, ", "),
                             report::did_you_mean(left.substr(0, colon), words)),
                 "", -1};
  }
  scale.what = known->what;
  if (!known->named) return scale;
  const std::string_view name = left.substr(colon + 1);
  if (scale.what == What::straggler) {
    if (scale.factor != 0 || name.find_first_not_of("0123456789") != std::string_view::npos)
      return Error{fmt::format("'{}' needs a rank and the factor 0, e.g. straggler:3=0", text), "", -1};
    scale.name = name;
    return scale;
  }
  if (std::count(name.begin(), name.end(), '/') == 1 && (name.starts_with('/') || name.ends_with('/'))) {
    const std::string_view part = name.substr(name.starts_with('/') ? 1 : 0, name.size() - 1);
    return Error{fmt::format("'{0}' has one slash too few: write {1}:/{2}/ for names that contain {2}", left,
                             known->word, part.empty() ? "gemm" : part),
                 "", -1};
  }
  if (name.size() > 2 && name.starts_with('/') && name.ends_with('/'))
    for (const std::string_view part : split(name.substr(1, name.size() - 2), '|'))
      scale.parts.emplace_back(part);
  else
    scale.name = name;
  return scale;
}

}  // namespace

Scale scale_kinds(std::initializer_list<derive::KernelKind> kinds, double factor) {
  Scale scale{.what = What::kind, .factor = factor};
  for (const derive::KernelKind kind : kinds) scale.parts.emplace_back(derive::name_of(kind));
  return scale;
}

std::string spelled(const Scale& scale) {
  const auto word =
      std::find_if(kWords.begin(), kWords.end(), [&](const Word& w) { return w.what == scale.what; });
  const std::string name = !scale.parts.empty()  ? fmt::format(":/{}/", fmt::join(scale.parts, "|"))
                           : !scale.name.empty() ? ":" + scale.name
                                                 : "";
  return fmt::format("{}{}={:.3g}", word->word, name, scale.factor);
}

Result<std::vector<TypedScale>> parse_scales(std::string_view text) {
  std::vector<TypedScale> scales;
  for (const std::string_view one : split(text, ';')) {
    if (scales.size() == kMaxScales)
      return Error{fmt::format("more than {} changes; ask for fewer at once", kMaxScales), "", -1};
    Result<Scale> scale = parse_scale(one);
    if (!scale) return scale.error();
    scales.push_back({std::string(one), std::move(scale).value()});
  }
  return scales;
}

}  // namespace stepscope::analyze

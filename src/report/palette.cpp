#include "report/palette.h"

#include <algorithm>
#include <string>

namespace stepscope::report {
namespace {

constexpr Paint kPaints[kFamilies] = {
    {"compute", "#A25D4D", "#FFFFFF", "#E35142", "#101418", "█", 167},
    {"elementwise", "#7B480B", "#FFFFFF", "#F28B00", "#101418", "▓", 172},
    {"attention", "#660E12", "#FFFFFF", "#AF3C67", "#FFFFFF", "▉", 125},
    {"communication", "#C477D5", "#101418", "#B1789B", "#101418", "▒", 133},
    {"copy", "#12A789", "#101418", "#60FEBA", "#101418", "▚", 36},
    {"host", "#184D97", "#FFFFFF", "#4F8AFB", "#101418", "▤", 33},
    {"host-backward", "#177D9B", "#FFFFFF", "#48BEFE", "#101418", "▥", 31},
    {"python", "#4E464F", "#FFFFFF", "#BBAFAD", "#101418", "▦", 102},
    {"data", "#8C953A", "#101418", "#DDE62B", "#101418", "▞", 142},
    {"runtime", "#221D7F", "#FFFFFF", "#7456B4", "#FFFFFF", "▧", 98},
    {"waiting", "#6B7280", "#FFFFFF", "#9CA3AF", "#101418", "╱", 244},
    {"other", "#B8BEC7", "#101418", "#4B5563", "#FFFFFF", "░", 246},
};

struct Word {
  std::string_view part;
  Family family;
};

// The first one found in a name decides.
constexpr Word kWords[] = {
    {"comm", Family::communication},
    {"collective", Family::communication},
    {"nccl", Family::communication},
    {"data", Family::data},
    {"loader", Family::data},
    {"input", Family::data},
    {"i/o", Family::data},
    {"copy", Family::copy},
    {"copies", Family::copy},
    {"memcpy", Family::copy},
    {"memset", Family::copy},
    {"attention", Family::attention},
    {"elementwise", Family::elementwise},
    {"pointwise", Family::elementwise},
    {"reduc", Family::elementwise},
    {"norm", Family::elementwise},
    {"idle", Family::waiting},
    {"wait", Family::waiting},
    {"sync", Family::waiting},
    {"python", Family::python},
    {"runtime", Family::runtime},
    {"launch", Family::runtime},
    {"driver", Family::runtime},
    {"backward", Family::host_backward},
    {"cpu", Family::host},
    {"host", Family::host},
    {"gemm", Family::compute},
    {"matmul", Family::compute},
    {"conv", Family::compute},
    {"kernel", Family::compute},
    {"compute", Family::compute},
    {"computation", Family::compute},
};

}  // namespace

const Paint& paint_of(Family family) { return kPaints[static_cast<std::size_t>(family)]; }

Family family_of(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  for (const Word& word : kWords)
    if (lower.find(word.part) != std::string::npos) return word.family;
  return Family::other;
}

}  // namespace stepscope::report

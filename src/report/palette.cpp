#include "report/palette.h"

#include <algorithm>
#include <string>

namespace stepscope::report {
namespace {

// Hatch lines continue in the neighbouring tiles.
constexpr Paint kPaints[kFamilies] = {
    {"compute", "#A25D4D", "#FFFFFF", "#E35142", "#101418", "█", "", 167},
    {"elementwise", "#7B480B", "#FFFFFF", "#F28B00", "#101418", "▓", "M1 2h2M5 6h2", 172},
    {"attention", "#660E12", "#FFFFFF", "#AF3C67", "#FFFFFF", "▩",
     "M-1 9L9 -1M-1 1L1 -1M7 9L9 7M-1 -1L9 9M-1 7L1 9M7 -1L9 1", 125},
    {"communication", "#C477D5", "#101418", "#B1789B", "#101418", "▒", "M0 2h4M4 6h4", 133},
    {"copy", "#12A789", "#101418", "#60FEBA", "#101418", "▚", "M2 0v4M6 4v4", 36},
    {"fill", "#141014", "#FFFFFF", "#7F4F08", "#FFFFFF", "▨", "M-1 9L9 -1M-1 1L1 -1M7 9L9 7", 94},
    {"host", "#184D97", "#FFFFFF", "#4F8AFB", "#101418", "▤", "M0 4h8", 33},
    {"host-backward", "#177D9B", "#FFFFFF", "#48BEFE", "#101418", "▥", "M4 0v8", 31},
    {"python", "#4E464F", "#FFFFFF", "#BBAFAD", "#101418", "▦", "M0 4h8M4 0v8", 102},
    {"data", "#8C953A", "#101418", "#DDE62B", "#101418", "▞", "M0 6l6 -6M2 8l6 -6", 142},
    {"runtime", "#221D7F", "#FFFFFF", "#7456B4", "#FFFFFF", "▧", "M-1 -1L9 9M-1 7L1 9M7 -1L9 1", 98},
    {"waiting", "#6B7280", "#FFFFFF", "#9CA3AF", "#101418", "╱", "M-1 9L9 -1", 244},
    {"other", "#B8BEC7", "#101418", "#47474C", "#FFFFFF", "░", "M3 4h2", 246},
};

struct Word {
  std::string_view part;
  Family family;
};

// The first word of this list that a name contains decides.
constexpr Word kWords[] = {
    {"comm", Family::communication},
    {"collective", Family::communication},
    {"transfer", Family::communication},
    {"nccl", Family::communication},
    {"data", Family::data},
    {"loader", Family::data},
    {"input", Family::data},
    {"i/o", Family::data},
    {"copy", Family::copy},
    {"copies", Family::copy},
    {"memcpy", Family::copy},
    {"memset", Family::fill},
    {"attention", Family::attention},
    {"elementwise", Family::elementwise},
    {"pointwise", Family::elementwise},
    {"softmax", Family::elementwise},
    {"concat", Family::elementwise},
    {"reduc", Family::elementwise},
    {"norm", Family::elementwise},
    {"idle", Family::waiting},
    {"wait", Family::waiting},
    {"pending", Family::waiting},
    {"sync", Family::waiting},
    {"python", Family::python},
    {"runtime", Family::runtime},
    {"launch", Family::runtime},
    {"driver", Family::runtime},
    {"alloc", Family::runtime},
    {"backward", Family::host_backward},
    {"cpu", Family::host},
    {"host", Family::host},
    {"matrix", Family::compute},
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

// The table of device peaks. Vendors' headline figures for A100 and later are often 2:4-sparse; these are
// dense.
#include "derive/roof/peaks.h"

namespace stepscope::derive {
namespace {

constexpr auto kNvidia = Vendor::nvidia;
constexpr auto kAmd = Vendor::amd;
constexpr auto kIntel = Vendor::intel;
constexpr auto kOther = Vendor::other;
constexpr auto kSure = Certainty::confirmed;
constexpr auto kVendor = Certainty::vendor;
constexpr auto kDerived = Certainty::derived;
constexpr auto kFabric = LinkKind::fabric;
constexpr auto kPair = LinkKind::fabric_pair;
constexpr auto kPcie = LinkKind::pcie;
constexpr auto kNoLink = LinkKind::unstated;

// clang-format off
constexpr PeakRow kTable[] = {
//   match                       vendor   cc      fp64  matrix  fp32   mat32  fp16    bf16    fp8     int8    fp4    GB/s  GiB  SM   LLC  link
    {"V100*SXM2*16GB",           kNvidia, 7, 0,   7.8,  0,      15.7,  0,     125,    0,      0,      62,     0,     900,  16,  80,  6,   300,  kFabric, kSure},
    {"V100*SXM2*32GB",           kNvidia, 7, 0,   7.8,  0,      15.7,  0,     125,    0,      0,      62,     0,     900,  32,  80,  6,   300,  kFabric, kSure},
    {"V100-DGXS",                kNvidia, 7, 0,   7.8,  0,      15.7,  0,     125,    0,      0,      62,     0,     900,  32,  80,  6,   300,  kFabric, kDerived},
    {"V100*PCIE*16GB",           kNvidia, 7, 0,   7.0,  0,      14,    0,     112,    0,      0,      56,     0,     900,  16,  80,  6,   32,   kPcie,   kSure},
    {"V100*PCIE*32GB",           kNvidia, 7, 0,   7.0,  0,      14,    0,     112,    0,      0,      56,     0,     900,  32,  80,  6,   32,   kPcie,   kSure},
    {"V100S",                    kNvidia, 7, 0,   8.2,  0,      16.4,  0,     130,    0,      0,      65,     0,     1134, 32,  80,  6,   32,   kPcie,   kSure},
    {"T4",                       kNvidia, 7, 5,   0.25, 0,      8.1,   0,     65,     0,      0,      130,    0,     320,  16,  40,  4,   32,   kPcie,   kSure},
    {"A100*SXM*40GB",            kNvidia, 8, 0,   9.7,  19.5,   19.5,  156,   312,    312,    0,      624,    0,     1555, 40,  108, 40,  600,  kFabric, kSure},
    {"A100-PG509",               kNvidia, 8, 0,   9.7,  19.5,   19.5,  156,   312,    312,    0,      624,    0,     1555, 40,  108, 40,  600,  kFabric, kDerived},
    {"A100*SXM*80GB",            kNvidia, 8, 0,   9.7,  19.5,   19.5,  156,   312,    312,    0,      624,    0,     2039, 80,  108, 40,  600,  kFabric, kSure},
    {"A100*PCIE*40GB",           kNvidia, 8, 0,   9.7,  19.5,   19.5,  156,   312,    312,    0,      624,    0,     1555, 40,  108, 40,  600,  kPair,   kSure},
    {"A100*80GB PCIe",           kNvidia, 8, 0,   9.7,  19.5,   19.5,  156,   312,    312,    0,      624,    0,     1935, 80,  108, 40,  600,  kPair,   kSure},
    {"A800*SXM*80GB",            kNvidia, 8, 0,   9.7,  19.5,   19.5,  156,   312,    312,    0,      624,    0,     2039, 80,  108, 40,  400,  kFabric, kVendor},
    {"A800*80GB PCIe",           kNvidia, 8, 0,   9.7,  19.5,   19.5,  156,   312,    312,    0,      624,    0,     1935, 80,  108, 40,  400,  kPair,   kVendor},
    {"A800*40GB",                kNvidia, 8, 0,   9.7,  19.5,   19.5,  156,   312,    312,    0,      624,    0,     1555, 40,  108, 40,  400,  kFabric, kVendor},
    {"A30",                      kNvidia, 8, 0,   5.2,  10.3,   10.3,  82,    165,    165,    0,      330,    0,     933,  24,  56,  24,  200,  kFabric, kSure},
    {"A10G",                     kNvidia, 8, 6,   0.5,  0,      31.2,  35,    70,     70,     0,      140,    0,     600,  24,  80,  6,   64,   kPcie,   kDerived},
    {"A10",                      kNvidia, 8, 6,   0.98, 0,      31.2,  62.5,  125,    125,    0,      250,    0,     600,  24,  72,  6,   64,   kPcie,   kSure},
    {"A40",                      kNvidia, 8, 6,   0.6,  0,      37.4,  74.8,  150,    150,    0,      299,    0,     696,  48,  84,  6,   112,  kFabric, kSure},
    {"RTX A6000",                kNvidia, 8, 6,   0.6,  0,      38.7,  77.4,  155,    155,    0,      310,    0,     768,  48,  84,  6,   112,  kFabric, kSure},
    {"L4",                       kNvidia, 8, 9,   0.47, 0,      30.3,  60,    121,    121,    242,    242,    0,     300,  24,  58,  48,  64,   kPcie,   kSure},
    {"L40S",                     kNvidia, 8, 9,   1.4,  0,      91.6,  183,   362,    362,    733,    733,    0,     864,  48,  142, 96,  64,   kPcie,   kSure},
    {"L40",                      kNvidia, 8, 9,   1.4,  0,      90.5,  90.5,  181,    181,    362,    362,    0,     864,  48,  142, 96,  64,   kPcie,   kSure},
    {"RTX 3090",                 kNvidia, 8, 6,   0.56, 0,      35.6,  35.6,  71,     71,     0,      284,    0,     936,  24,  82,  6,   112,  kFabric, kSure},
    {"RTX 4090",                 kNvidia, 8, 9,   1.3,  0,      82.6,  82.6,  165.2,  165.2,  330.3,  660.6,  0,     1008, 24,  128, 72,  64,   kPcie,   kSure},
    {"RTX 6000 Ada",             kNvidia, 8, 9,   1.4,  0,      91.1,  182,   364,    364,    728,    728,    0,     960,  48,  142, 96,  64,   kPcie,   kSure},
    {"RTX 5090",                 kNvidia, 12, 0,  1.6,  0,      104.8, 104.8, 209.5,  209.5,  419,    838,    1676,  1792, 32,  170, 96,  128,  kPcie,   kSure},
    {"RTX PRO 6000 Blackwell",   kNvidia, 12, 0,  2.0,  0,      125,   252,   503.8,  503.8,  1007,   1007,   2015,  1792, 96,  188, 128, 128,  kPcie,   kVendor},
    {"H100*PCIe",                kNvidia, 9, 0,   25.6, 51.2,   51.2,  378,   756,    756,    1513,   1513,   0,     2039, 80,  114, 50,  600,  kPair,   kSure},
    {"H100*NVL",                 kNvidia, 9, 0,   30,   60,     60,    417.5, 835,    835,    1671,   1671,   0,     3938, 94,  132, 50,  600,  kPair,   kSure},
    {"H100",                     kNvidia, 9, 0,   33.5, 66.9,   66.9,  494.7, 989.4,  989.4,  1978.9, 1978.9, 0,     3352, 80,  132, 50,  900,  kFabric, kSure},
    {"H800*PCIe",                kNvidia, 9, 0,   1,    0,      51.2,  378,   756,    756,    1513,   1513,   0,     2039, 80,  114, 50,  400,  kFabric, kVendor},
    {"H800",                     kNvidia, 9, 0,   1,    0,      66.9,  494.7, 989.4,  989.4,  1979,   1979,   0,     3352, 80,  132, 50,  400,  kFabric, kVendor},
    {"H20",                      kNvidia, 9, 0,   1,    0,      44,    74,    148,    148,    296,    296,    0,     4000, 96,  78,  60,  900,  kFabric, kVendor},
    {"H200*NVL",                 kNvidia, 9, 0,   30,   60,     60,    417.5, 835.5,  835.5,  1670.5, 1670.5, 0,     4800, 141, 132, 50,  900,  kFabric, kSure},
    {"H200",                     kNvidia, 9, 0,   33.5, 66.9,   66.9,  494.7, 989.4,  989.4,  1978.9, 1978.9, 0,     4800, 141, 132, 50,  900,  kFabric, kSure},
    {"GH200*144G",               kNvidia, 9, 0,   34,   67,     67,    494.7, 989.4,  989.4,  1979,   1979,   0,     4900, 144, 132, 50,  900,  kFabric, kSure},
    {"GH200",                    kNvidia, 9, 0,   34,   67,     67,    494.7, 989.4,  989.4,  1979,   1979,   0,     4000, 96,  132, 50,  900,  kFabric, kSure},
    {"GB200",                    kNvidia, 10, 0,  40,   0,      80,    1250,  2500,   2500,   5000,   5000,   10000, 8000, 186, 148, 126, 1800, kFabric, kVendor},
    {"B200",                     kNvidia, 10, 0,  37,   0,      75,    1125,  2250,   2250,   4500,   4500,   9000,  8000, 180, 148, 126, 1800, kFabric, kSure},
    {"GB300",                    kNvidia, 10, 3,  1.3,  0,      77,    1250,  2500,   2500,   5000,   330,    15000, 8000, 288, 148, 126, 1800, kFabric, kDerived},
    {"B300",                     kNvidia, 10, 3,  1.3,  0,      77,    1125,  2250,   2250,   4500,   150,    13500, 8000, 270, 148, 126, 1800, kFabric, kDerived},
    {"MI100",                    kAmd,    9, 0,   11.5, 0,      23.1,  46.1,  184.6,  92.3,   0,      184.6,  0,     1229, 32,  120, 8,   276,  kFabric, kVendor},
    {"MI210",                    kAmd,    9, 0,   22.6, 45.3,   22.6,  45.3,  181,    181,    0,      181,    0,     1638, 64,  104, 8,   300,  kFabric, kSure},
    {"MI250X",                   kAmd,    9, 0,   23.9, 47.9,   23.9,  47.9,  191.5,  191.5,  0,      191.5,  0,     1638, 64,  110, 8,   400,  kFabric, kSure},
    {"MI250",                    kAmd,    9, 0,   22.6, 45.3,   22.6,  45.3,  181,    181,    0,      181,    0,     1638, 64,  104, 8,   400,  kFabric, kSure},
    {"MI300A",                   kAmd,    9, 4,   61.3, 122.6,  122.6, 122.6, 980.6,  980.6,  1961,   1961,   0,     5300, 128, 228, 256, 1024, kFabric, kSure, 490},
    {"MI300X",                   kAmd,    9, 4,   81.7, 163.4,  163.4, 163.4, 1307.4, 1307.4, 2614.9, 2614.9, 0,     5325, 192, 304, 256, 896,  kFabric, kSure, 653.7},
    {"MI325X",                   kAmd,    9, 4,   81.7, 163.4,  163.4, 163.4, 1307.4, 1307.4, 2614.9, 2614.9, 0,     6000, 256, 304, 256, 896,  kFabric, kSure, 653.7},
    {"MI350X",                   kAmd,    9, 5,   72.1, 72.1,   144.2, 144.2, 2306.9, 2306.9, 4613.7, 4613.7, 9227,  8000, 288, 256, 256, 1075, kFabric, kVendor},
    {"MI355X",                   kAmd,    9, 5,   78.6, 78.6,   157.3, 157.3, 2516.6, 2516.6, 5033.2, 5033.2, 10066, 8000, 288, 256, 256, 1075, kFabric, kVendor},
    {"Data Center GPU Max 1550", kIntel,  0, 0,   26.2, 0,      26.2,  209,   419,    419,    0,      839,    0,     1638, 64,  64,  204, 0,    kFabric, kDerived},
    {"Data Center GPU Max 1100", kIntel,  0, 0,   22.2, 0,      22.2,  176,   352,    352,    0,      704,    0,     1229, 48,  56,  108, 0,    kFabric, kVendor},
    {"Gaudi2",                   kIntel,  0, 0,   0,    0,      0,     0,     432,    432,    865,    0,      0,     2450, 96,  24,  48,  600,  kFabric, kVendor},
    {"HL-225",                   kIntel,  0, 0,   0,    0,      0,     0,     432,    432,    865,    0,      0,     2450, 96,  24,  48,  600,  kFabric, kVendor},
    {"Gaudi3",                   kIntel,  0, 0,   0,    0,      0,     0,     1835,   1835,   1835,   0,      0,     3700, 128, 64,  96,  1200, kFabric, kSure},
    {"HL-325",                   kIntel,  0, 0,   0,    0,      0,     0,     1835,   1835,   1835,   0,      0,     3700, 128, 64,  96,  1200, kFabric, kSure},
    {"ARTEMIS",                  kOther,  0, 0,   0,    0,      0,     0,     177,    177,    0,      354,    0,     205,  128, 0,   256, 0,    kNoLink, kDerived},
};
// clang-format on

}  // namespace

std::span<const PeakRow> peak_table() { return kTable; }

}  // namespace stepscope::derive

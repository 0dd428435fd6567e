#include "train/device/gpu.h"

#include <fstream>
#include <system_error>

namespace attend {
namespace {

struct Peak {
  const char* name;
  double tera_operations;
};

// The first that a name begins with, as whole words.
constexpr Peak kPeaks[] = {
    {"NVIDIA B200", 2250},     {"NVIDIA H200 NVL", 835}, {"NVIDIA H200", 989},
    {"NVIDIA H100 PCIe", 756}, {"NVIDIA H100 NVL", 835}, {"NVIDIA H100", 989},
    {"NVIDIA A100", 312},      {"NVIDIA A30", 165},      {"NVIDIA A40", 150},
    {"NVIDIA A10", 125},       {"NVIDIA L40S", 362},     {"NVIDIA L40", 181},
    {"NVIDIA L4", 121},
};

// Of a file with lines such as "Model: 		 NVIDIA H200".
std::string ModelIn(const std::filesystem::path& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("Model:")) continue;
    const size_t begin = line.find_first_not_of(" \t", 6), end = line.find_last_not_of(" \t");
    return begin == std::string::npos ? "" : line.substr(begin, end + 1 - begin);
  }
  return "";
}

}  // namespace

std::string GpuName(const std::filesystem::path& folder) {
  std::string name;
  std::error_code none;
  for (const auto& gpu : std::filesystem::directory_iterator(folder, none)) {
    const std::string own = ModelIn(gpu.path() / "information");
    if (!name.empty() && own != name) return "";
    name = own;
  }
  return name;
}

double Bf16Peak(const std::string& gpu_name) {
  for (const Peak& peak : kPeaks) {
    const std::string known = peak.name;
    if (!gpu_name.starts_with(known)) continue;
    const char next = gpu_name.size() == known.size() ? ' ' : gpu_name[known.size()];
    if (next == ' ' || next == '-') return 1e12 * peak.tera_operations;
  }
  return 0;
}

}  // namespace attend

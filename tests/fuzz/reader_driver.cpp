// Runs a fuzz target where there is no libFuzzer (GCC): reader_driver ROUNDS SEED_FOLDER [FIRST_ROUND]. Every seed as it is, then ROUNDS
// mutations, the same for the same number: with ULPSCOPE_FUZZ_SHOW=1 each is named first, and FIRST_ROUND begins at one that crashed.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t end) { return end == 0 ? 0 : random() % end; }

void flip(std::string& bytes, Random& random) {
  for (std::size_t i = std::size_t{1} << below(random, 5); i > 0 && !bytes.empty(); --i) bytes[below(random, bytes.size())] ^= static_cast<char>(1 << below(random, 8));
}

void cut(std::string& bytes, Random& random) {
  const std::size_t at = below(random, bytes.size() + 1), length = below(random, std::size_t{1} << below(random, 12));
  switch (below(random, 3)) {
    case 0: bytes.resize(at); break;
    case 1: bytes.erase(at, length); break;
    default: bytes.insert(at, bytes.substr(at, length));
  }
}

// Binary sizes and offsets: extreme ones in their place.
void replaceBinary(std::string& bytes, Random& random) {
  static constexpr std::array<std::uint64_t, 9> kExtremes{0, 1, 0x7F, 0xFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF};
  const std::uint64_t value = kExtremes[below(random, kExtremes.size())];
  const std::size_t width = std::size_t{1} << below(random, 4);
  if (bytes.size() >= width) std::memcpy(bytes.data() + below(random, bytes.size() - width + 1), &value, width);
}

// A number in a text header, or a word of one.
void replaceText(std::string& bytes, Random& random) {
  static constexpr std::array<std::string_view, 22> kWords{"-1", "0", "1", "65536", "4294967296", "9223372036854775807", "18446744073709551616", "1e400", "\"", "'", "{", "}", "[", "(", ",", "True",
                                                           "null", "|O", "<U9", "BF16", "labels", "\\u0000"};
  const std::size_t from = below(random, std::min<std::size_t>(bytes.size(), 4096));
  const std::size_t at = bytes.find_first_of("0123456789", from);
  if (at == std::string::npos) return;
  const std::size_t end = std::min(bytes.find_first_not_of("0123456789", at), bytes.size());
  bytes.replace(at, end - at, kWords[below(random, kWords.size())]);
}

std::string mutated(const std::vector<std::string>& seeds, Random& random) {
  std::string bytes = seeds[below(random, seeds.size())];
  for (std::size_t i = 1 + below(random, 3); i > 0; --i) switch (below(random, 5)) {
      case 0: flip(bytes, random); break;
      case 1: cut(bytes, random); break;
      case 2: replaceBinary(bytes, random); break;
      case 3: replaceText(bytes, random); break;
      default: {  // the beginning of one seed, the end of another
        const std::string& other = seeds[below(random, seeds.size())];
        bytes = bytes.substr(0, below(random, bytes.size() + 1)) + other.substr(below(random, other.size() + 1));
      }
    }
  return bytes;
}

void run(const std::string& bytes) { LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()); }

std::vector<std::string> seedsIn(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> seeds;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return seeds;
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return std::fprintf(stderr, "reader_driver ROUNDS SEED_FOLDER [FIRST_ROUND]\n"), 2;
  const std::vector<std::string> seeds = seedsIn(words[2]);
  if (seeds.empty()) return std::fprintf(stderr, "%s holds no seeds\n", words[2]), 2;
  const std::uint64_t first = count > 3 ? std::strtoull(words[3], nullptr, 10) : 0, rounds = std::strtoull(words[1], nullptr, 10);
  for (const std::string& seed : seeds) run(seed);
  const bool shows = std::getenv("ULPSCOPE_FUZZ_SHOW") != nullptr;
  for (std::uint64_t round = first; round < first + rounds; ++round) {
    Random random(round);
    const std::string bytes = mutated(seeds, random);
    if (shows) std::fprintf(stderr, "round %llu\n", static_cast<unsigned long long>(round));
    run(bytes);
  }
  std::printf("RESULT {\"name\": \"fuzzed_reader\", \"seeds\": %zu, \"rounds\": %llu}\n", seeds.size(), static_cast<unsigned long long>(rounds));
  return 0;
}

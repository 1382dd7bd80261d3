#include "core/storage/npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace ulpscope::storage {
namespace {

using base::DType;
using base::Error;
using base::ErrorKind;
using base::Result;
using Kind = ElementType::Kind;

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::size_t kMostDimensions = 64;
constexpr const char* kTypesRead = "float16, bfloat16, float32, float64, int8 to int64, uint8, bool, complex64 and complex128 are read";
constexpr const char* kCopyAgain = "copy the file again, or save it again with numpy.save";

struct Header {
  std::optional<std::string> descr;
  std::optional<bool> fortranOrder;
  std::optional<std::vector<std::int64_t>> shape;
  bool isStructured = false;
};

// The few words of Python that numpy writes: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }. Nothing: it is something else.
class Literal {
 public:
  explicit Literal(std::string_view text) : m_text(text) {}

  std::optional<Header> header() {
    Header header;
    if (!take('{')) return std::nullopt;
    while (!take('}')) {
      if (!pair(header)) return std::nullopt;
      if (header.isStructured) return header;  // a list of fields may hold anything
      if (!take(',') && !isNext('}')) return std::nullopt;
    }
    skip();
    if (m_at != m_text.size() || !header.descr || !header.fortranOrder || !header.shape) return std::nullopt;
    return header;
  }

 private:
  void skip() { m_at = std::min(m_text.find_first_not_of(" \t\r\n", m_at), m_text.size()); }
  bool isNext(char c) {
    skip();
    return m_at < m_text.size() && m_text[m_at] == c;
  }
  bool take(char c) {
    const bool is = isNext(c);
    m_at += is ? 1 : 0;
    return is;
  }
  bool takeWord(std::string_view word) {
    skip();
    const bool is = m_text.substr(m_at, word.size()) == word;
    m_at += is ? word.size() : 0;
    return is;
  }

  bool pair(Header& header) {
    const auto key = text();
    if (!key || !take(':')) return false;
    if (*key == "descr" && !header.descr) {
      header.isStructured = isNext('[') || isNext('{') || isNext('(');
      return header.isStructured || (header.descr = text()).has_value();
    }
    if (*key == "fortran_order" && !header.fortranOrder) {
      if (takeWord("True")) header.fortranOrder = true;
      else if (takeWord("False")) header.fortranOrder = false;
      return header.fortranOrder.has_value();
    }
    return *key == "shape" && !header.shape && (header.shape = sizes()).has_value();
  }

  // No dtype and no key holds a quote or a backslash.
  std::optional<std::string> text() {
    skip();
    if (m_at == m_text.size() || (m_text[m_at] != '\'' && m_text[m_at] != '"')) return std::nullopt;
    const std::size_t end = m_text.find(m_text[m_at], m_at + 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view inside = m_text.substr(m_at + 1, end - m_at - 1);
    m_at = end + 1;
    return inside.find('\\') == std::string_view::npos ? std::optional(std::string(inside)) : std::nullopt;
  }

  std::optional<std::vector<std::int64_t>> sizes() {
    std::vector<std::int64_t> sizes;
    if (!take('(')) return std::nullopt;
    while (!take(')')) {
      skip();
      std::int64_t size = 0;
      const char* end = m_text.data() + m_text.size();
      const auto read = std::from_chars(m_text.data() + m_at, end, size);
      if (read.ec != std::errc() || size < 0 || sizes.size() == kMostDimensions) return std::nullopt;
      m_at = static_cast<std::size_t>(read.ptr - m_text.data());
      takeWord("L");  // Python 2's long
      sizes.push_back(size);
      if (!take(',') && !(isNext(')') && sizes.size() > 1)) return std::nullopt;
    }
    return sizes;
  }

  std::string_view m_text;
  std::size_t m_at = 0;
};

struct NumberType {
  std::string_view code;
  DType dtype;
};
constexpr std::array<NumberType, 11> kNumberTypes{{{"f2", DType::float16}, {"f4", DType::float32}, {"f8", DType::float64}, {"i1", DType::int8}, {"i2", DType::int16}, {"i4", DType::int32},
                                                   {"i8", DType::int64}, {"u1", DType::uint8}, {"b1", DType::boolean}, {"c8", DType::complex64}, {"c16", DType::complex128}}};

std::string refusalOf(const std::string& descr, char kind) {
  switch (kind) {
    case 'O': return "holds Python objects (a pickle inside, which could run any code)";
    case 'M': case 'm': return "holds dates or durations";
    case 'V': return "holds raw bytes ('" + descr.substr(0, 20) + "')";
    case 'f': return "is float" + (descr.substr(2) == "16" ? std::string("128") : "8 ('" + descr.substr(0, 20) + "')") + ", which PyTorch does not have";
    default: return "is of numpy's type '" + descr.substr(0, 20) + "'";
  }
}

// "<f4": byte order, kind, bytes. ml_dtypes writes bfloat16 as '<V2' (ml_dtypes issue 41); plain raw bytes are '|V2'.
Result<ElementType> typeOf(const std::string& descr, const std::string& place) {
  if (descr == "<V2" || descr == "bfloat16") return ElementType{Kind::number, DType::bfloat16, 2, false};
  const bool hasOrder = !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
  const std::string code = descr.substr(hasOrder ? 1 : 0);
  const bool bigEndian = descr.starts_with('>');
  for (const NumberType& type : kNumberTypes)
    if (code == type.code) return ElementType{Kind::number, type.dtype, base::sizeBytes(type.dtype), bigEndian};
  const char kind = code.empty() ? '?' : code[0];
  std::size_t count = 0;
  const bool counted = code.size() > 1 && std::from_chars(code.data() + 1, code.data() + code.size(), count).ptr == code.data() + code.size() && count < (std::size_t{1} << 30);
  if (counted && kind == 'u' && (count == 2 || count == 4 || count == 8)) return ElementType{Kind::unsignedInteger, DType::int64, count, bigEndian};
  if (counted && kind == 'S') return ElementType{Kind::bytes, DType::uint8, count, false};
  if (counted && kind == 'U') return ElementType{Kind::unicode, DType::uint8, 4 * count, bigEndian};
  const char* remedy = kind == 'O' ? "store numbers, or text as numpy.array(list, dtype=str)" : kind == 'V' && code == "V2" ? "if it is bfloat16, save it with ml_dtypes' dtype ('<V2'), or widened to float32" : kTypesRead;
  return Error{ErrorKind::input, refusalOf(hasOrder ? descr : "|" + descr, kind), place, remedy};
}

std::uint64_t littleEndian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

base::Status checkSize(const PlainArray& array, std::uint64_t sizeBytes, const std::string& place) {
  const auto data = byteCount(array.shape, array.type.sizeBytes);
  if (!data) return Error{ErrorKind::input, "declares " + shapeText(array.shape) + ", more elements than any memory can hold", place, "the file is damaged or hostile"};
  const std::uint64_t declared = array.firstByte + *data;
  if (sizeBytes < declared)
    return Error{ErrorKind::input, fmt::format("is cut short: it has {} bytes, its header declares {}", sizeBytes, declared), place, kCopyAgain};
  if (sizeBytes > declared)
    return Error{ErrorKind::input, fmt::format("has {} bytes after its array's last, at byte {}", sizeBytes - declared, declared), place, "save one array a file, or several with numpy.savez"};
  return base::success();
}

}  // namespace

bool looksLikeNpy(std::string_view start) { return start.starts_with(kMagic); }

Result<PlainArray> readNpyHeader(std::string_view start, std::uint64_t sizeBytes, const std::string& place) {
  if (!looksLikeNpy(start)) return Error{ErrorKind::input, "is no array of numpy's (it does not begin with \\x93NUMPY)", place, kCopyAgain};
  const std::size_t lengthBytes = start.size() > 6 && start[6] == 1 ? 2 : 4, first = 8 + lengthBytes;
  if (start.size() < first) return Error{ErrorKind::input, fmt::format("is cut short: {} bytes, not even a header", sizeBytes), place, kCopyAgain};
  const int major = static_cast<unsigned char>(start[6]), minor = static_cast<unsigned char>(start[7]);
  if (major < 1 || major > 3 || minor != 0)
    return Error{ErrorKind::input, fmt::format("is of version {}.{} of numpy's format", major, minor), place, "save it with a numpy that writes 1.0, 2.0 or 3.0"};
  const std::uint64_t length = littleEndian(start.substr(8, lengthBytes));
  if (length > sizeBytes - first)
    return Error{ErrorKind::input, fmt::format("is cut short: its header is to end at byte {}, the file at {}", first + length, sizeBytes), place, kCopyAgain};
  if (length > start.size() - first) return Error{ErrorKind::input, fmt::format("has a header of {} bytes, more than any of plain numbers", length), place, kTypesRead};
  const auto header = Literal(start.substr(first, length)).header();
  if (!header) return Error{ErrorKind::input, "has a damaged header (not the dict with 'descr', 'fortran_order' and 'shape' that numpy writes)", place, kCopyAgain};
  if (header->isStructured) return Error{ErrorKind::input, "holds records (a structured array); an input is an array of plain numbers", place, "save each field as an array of its own"};
  const auto type = typeOf(*header->descr, place);
  if (!type) return type.error();
  PlainArray array{"", type.value(), *header->shape, *header->fortranOrder, "", first + length};
  if (auto good = checkSize(array, sizeBytes, place); !good) return good.error();
  return array;
}

}  // namespace ulpscope::storage

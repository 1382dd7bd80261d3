#include "core/storage/image_codecs.h"

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>

namespace ulpscope::storage {
namespace {

// Everything that must outlive a longjmp, which skips destructors: libpng's own things are freed by our destructor, buffers are made between its calls.
class PngReader {
 public:
  explicit PngReader(std::string_view file) : m_left(file) {
    m_png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, onError, onWarning);
    m_info = m_png ? png_create_info_struct(m_png) : nullptr;
  }
  ~PngReader() { png_destroy_read_struct(&m_png, &m_info, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  bool isReady() const { return m_info != nullptr; }
  const char* fault() const { return m_fault; }
  png_uint_32 width() const { return png_get_image_width(m_png, m_info); }
  png_uint_32 height() const { return png_get_image_height(m_png, m_info); }
  int bitDepth() const { return png_get_bit_depth(m_png, m_info); }
  int channels() const { return png_get_channels(m_png, m_info); }
  std::size_t rowBytes() const { return png_get_rowbytes(m_png, m_info); }

  bool readHeader() {
    constexpr png_uint_32 kMostSide = 65535, kMostChunks = 1000;
    constexpr png_alloc_size_t kMostChunkBytes = png_alloc_size_t{1} << 24;
    if (setjmp(m_jump)) return false;
    png_set_user_limits(m_png, kMostSide, kMostSide);
    png_set_chunk_cache_max(m_png, kMostChunks);
    png_set_chunk_malloc_max(m_png, kMostChunkBytes);
    png_set_read_fn(m_png, this, onRead);
    png_read_info(m_png, m_info);
    return true;
  }
  // 8 bits a channel, no palette, no alpha.
  bool setUp() {
    if (setjmp(m_jump)) return false;
    png_set_palette_to_rgb(m_png);
    png_set_expand_gray_1_2_4_to_8(m_png);
    png_set_strip_alpha(m_png);
    png_set_interlace_handling(m_png);
    png_read_update_info(m_png, m_info);
    return true;
  }
  bool readRows(png_bytepp rows) {
    if (setjmp(m_jump)) return false;
    png_read_image(m_png, rows);
    png_read_end(m_png, m_info);
    return true;
  }
  int orientation() {
    png_uint_32 size = 0;
    png_bytep bytes = nullptr;
    if (setjmp(m_jump)) return 1;
    if (png_get_eXIf_1(m_png, m_info, &size, &bytes) == 0) return 1;
    return orientationIn({reinterpret_cast<const char*>(bytes), size});
  }

 private:
  static PngReader& self(png_structp png) { return *static_cast<PngReader*>(png_get_error_ptr(png)); }
  [[noreturn]] static void onError(png_structp png, png_const_charp message) {
    PngReader& reader = self(png);
    std::memcpy(reader.m_fault, message, std::min(std::strlen(message), sizeof reader.m_fault - 1));
    std::longjmp(reader.m_jump, 1);
  }
  static void onWarning(png_structp, png_const_charp) {}
  static void onRead(png_structp png, png_bytep to, std::size_t count) {
    PngReader& reader = self(png);
    if (count > reader.m_left.size()) png_error(png, "the file ends too early");
    std::memcpy(to, reader.m_left.data(), count);
    reader.m_left.remove_prefix(count);
  }

  std::jmp_buf m_jump;
  std::string_view m_left;
  char m_fault[200] = {};
  png_structp m_png = nullptr;
  png_infop m_info = nullptr;
};

std::string faultOf(const PngReader& reader) { return std::string("is damaged: ") + reader.fault(); }

}  // namespace

CodecResult readPng(std::string_view file, Want want) {
  CodecResult result;
  PngReader reader(file);
  if (!reader.isReady()) return result.fault = "cannot be read: libpng has no memory", result;
  if (!reader.readHeader()) return result.fault = faultOf(reader), result;
  result.fault = sizeFault(reader.height(), reader.width());
  if (result.fault.empty() && reader.bitDepth() > 8) result.fault = "has 16 bits a channel; save it with 8";
  if (!result.fault.empty()) return result;
  result.header = {{static_cast<int>(reader.height()), static_cast<int>(reader.width())}, reader.orientation()};
  if (want == Want::header) return result;
  if (!reader.setUp()) return result.fault = faultOf(reader), result;
  Pixels& pixels = result.pixels;
  pixels = {result.header.size, reader.channels(), {}};
  const std::size_t rowBytes = static_cast<std::size_t>(pixels.channels) * static_cast<std::size_t>(pixels.size.width);
  if ((pixels.channels != 1 && pixels.channels != 3) || reader.rowBytes() != rowBytes) return result.fault = "is of a kind of PNG that is not read", result;
  pixels.bytes.resize(rowBytes * static_cast<std::size_t>(pixels.size.height));
  std::vector<png_bytep> rows;
  for (int y = 0; y < pixels.size.height; ++y) rows.push_back(pixels.bytes.data() + static_cast<std::size_t>(y) * rowBytes);
  if (!reader.readRows(rows.data())) return result.fault = faultOf(reader), result;
  result.header.orientation = reader.orientation();  // the chunk may follow the pixels
  return result;
}

}  // namespace ulpscope::storage

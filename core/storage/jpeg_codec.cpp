#include "core/storage/image_codecs.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <jpeglib.h>
#include <jerror.h>

namespace ulpscope::storage {
namespace {

constexpr std::string_view kExif("Exif\0\0", 6);

// As PngReader: what must outlive a longjmp is a member.
class JpegReader {
 public:
  explicit JpegReader(std::string_view file) : m_file(file) {
    m_info.err = jpeg_std_error(&m_errors);
    m_info.client_data = this;
    m_errors.error_exit = onError;
    m_errors.emit_message = onMessage;
    m_progress.progress_monitor = onProgress;
  }
  ~JpegReader() { jpeg_destroy_decompress(&m_info); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  const char* fault() const { return m_fault; }
  const jpeg_decompress_struct& info() const { return m_info; }

  bool readHeader() {
    constexpr unsigned kWholeMarker = 0xFFFF;
    constexpr long kMostMemory = 1L << 30;
    if (setjmp(m_jump)) return false;
    jpeg_create_decompress(&m_info);
    m_info.progress = &m_progress;
    m_info.mem->max_memory_to_use = kMostMemory;
    jpeg_mem_src(&m_info, reinterpret_cast<const unsigned char*>(m_file.data()), m_file.size());
    jpeg_save_markers(&m_info, JPEG_APP0 + 1, kWholeMarker);
    jpeg_read_header(&m_info, TRUE);
    return true;
  }
  bool start() {
    if (setjmp(m_jump)) return false;
    m_info.out_color_space = m_info.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&m_info);
    return true;
  }
  bool readRows(std::uint8_t* to, std::size_t rowBytes) {
    if (setjmp(m_jump)) return false;
    while (m_info.output_scanline < m_info.output_height) {
      JSAMPROW row = to + m_info.output_scanline * rowBytes;
      jpeg_read_scanlines(&m_info, &row, 1);
    }
    jpeg_finish_decompress(&m_info);
    return true;
  }
  int orientation() const {
    for (const jpeg_marker_struct* marker = m_info.marker_list; marker; marker = marker->next) {
      const std::string_view data(reinterpret_cast<const char*>(marker->data), marker->data_length);
      if (marker->marker == JPEG_APP0 + 1 && data.starts_with(kExif)) return orientationIn(data.substr(kExif.size()));
    }
    return 1;
  }

 private:
  static JpegReader& self(j_common_ptr info) { return *static_cast<JpegReader*>(info->client_data); }
  [[noreturn]] void giveUp(const char* what) {
    std::memcpy(m_fault, what, std::min(std::strlen(what), sizeof m_fault - 1));
    std::longjmp(m_jump, 1);
  }
  [[noreturn]] static void onError(j_common_ptr info) {
    char text[JMSG_LENGTH_MAX] = {};
    info->err->format_message(info, text);
    self(info).giveUp(text);
  }
  // A warning means that pixels are made up where the file is damaged; stray bytes between markers harm none.
  static void onMessage(j_common_ptr info, int level) {
    if (level < 0 && info->err->msg_code != JWRN_EXTRANEOUS_DATA) onError(info);
  }
  // Each scan of a progressive image goes over all of it again: some hundred bytes could cost minutes.
  static void onProgress(j_common_ptr info) {
    constexpr int kMostScans = 500;
    if (info->is_decompressor && reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > kMostScans) self(info).giveUp("it has more than 500 scans");
  }

  std::jmp_buf m_jump;
  std::string_view m_file;
  char m_fault[200] = {};
  jpeg_decompress_struct m_info = {};
  jpeg_error_mgr m_errors = {};
  jpeg_progress_mgr m_progress = {};
};

std::string faultOf(const JpegReader& reader) { return std::string("is damaged: ") + reader.fault(); }

}  // namespace

CodecResult readJpeg(std::string_view file, Want want) {
  CodecResult result;
  JpegReader reader(file);
  if (!reader.readHeader()) return result.fault = faultOf(reader), result;
  const jpeg_decompress_struct& info = reader.info();
  result.fault = sizeFault(info.image_height, info.image_width);
  const bool isPlain = info.jpeg_color_space == JCS_GRAYSCALE || info.jpeg_color_space == JCS_YCbCr || info.jpeg_color_space == JCS_RGB;
  if (result.fault.empty() && (!isPlain || (info.num_components != 1 && info.num_components != 3))) result.fault = "is neither grey nor RGB (CMYK?); convert it to RGB";
  if (!result.fault.empty()) return result;
  result.header = {{static_cast<int>(info.image_height), static_cast<int>(info.image_width)}, reader.orientation()};
  if (want == Want::header) return result;
  if (!reader.start()) return result.fault = faultOf(reader), result;
  const std::size_t rowBytes = static_cast<std::size_t>(info.output_components) * info.output_width;
  result.pixels = {result.header.size, info.output_components, {}};
  if (info.output_width != info.image_width || info.output_height != info.image_height) return result.fault = "is of a kind of JPEG that is not read", result;
  result.pixels.bytes.resize(rowBytes * info.output_height);
  if (!reader.readRows(result.pixels.bytes.data(), rowBytes)) return result.fault = faultOf(reader), result;
  return result;
}

}  // namespace ulpscope::storage

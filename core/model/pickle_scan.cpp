#include "core/model/pickle_scan.h"

#include "core/model/archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace ulpscope::model {
namespace {

using base::Error;
using base::ErrorKind;

struct Damage {
  std::string what;
};

[[noreturn]] void damaged(const std::string& what) { throw Damage{what}; }

struct StorageClass {
  const char* name;
  std::uint64_t elementSize;
};

constexpr StorageClass kStorageClasses[] = {
    {"DoubleStorage", 8}, {"FloatStorage", 4},        {"HalfStorage", 2},          {"BFloat16Storage", 2}, {"LongStorage", 8},
    {"IntStorage", 4},    {"ShortStorage", 2},        {"CharStorage", 1},          {"ByteStorage", 1},     {"BoolStorage", 1},
    {"ComplexHalfStorage", 4}, {"ComplexFloatStorage", 8}, {"ComplexDoubleStorage", 16}, {"QInt8Storage", 1}, {"QUInt8Storage", 1},
    {"QInt32Storage", 4}, {"UInt16Storage", 2},       {"UInt32Storage", 4},        {"UInt64Storage", 8},   {"Float8_e5m2Storage", 1},
    {"Float8_e4m3fnStorage", 1}, {"Float8_e5m2fnuzStorage", 1}, {"Float8_e4m3fnuzStorage", 1}};

std::uint64_t elementSize(const std::string& global) {
  for (const StorageClass& c : kStorageClasses)
    if (global == std::string("torch ") + c.name) return c.elementSize;
  damaged("declares a storage of the unknown kind '" + global.substr(0, 60) + "'");
}

// What the scan keeps of a pickled value. depth: containers inside one another, 0 for plain values. items: what a tuple holds, what a
// tensor is made from, what a storage's id says, or the names and values of a dict.
struct Value {
  enum class Kind { other, integer, text, global, tuple, container, storage, tensor } kind = Kind::other;
  int depth = 0;
  bool memoized = false;
  std::int64_t number = 0;  // an integer, or a storage's elements
  std::shared_ptr<const std::string> text = nullptr;
  std::shared_ptr<const std::vector<Value>> items = nullptr;
};

using Items = std::vector<Value>;

const Value& at(const Value& tuple, std::size_t index, Value::Kind kind) {
  if (tuple.kind != Value::Kind::tuple || index >= tuple.items->size() || tuple.items->at(index).kind != kind)
    damaged("describes a tensor in a way torch.jit does not");
  return tuple.items->at(index);
}

// Index of the last element a tensor reaches, -1 when it has none; -2 when that is no number at all.
__int128 lastElement(std::int64_t offset, const Items& sizes, const Items& strides) {
  __int128 last = offset;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t size = sizes[i].number, stride = strides[i].number;
    if (size < 0 || stride < 0) return -2;
    if (size == 0) return -1;
    last += static_cast<__int128>(size - 1) * stride;
    if (last > INT64_MAX) return last;
  }
  return last;
}

// (storage, offset, sizes, strides, ...), as torch._utils._rebuild_tensor_v2 and _rebuild_qtensor take them. LibTorch
// does not compare them with the storage, so a tensor that reaches beyond it would be read out of bounds.
void checkTensor(const Value& arguments) {
  const Value& storage = at(arguments, 0, Value::Kind::storage);
  const std::int64_t offset = at(arguments, 1, Value::Kind::integer).number;
  const Items& sizes = *at(arguments, 2, Value::Kind::tuple).items;
  const Items& strides = *at(arguments, 3, Value::Kind::tuple).items;
  const auto isInteger = [](const Value& v) { return v.kind == Value::Kind::integer; };
  if (sizes.size() != strides.size() || !std::all_of(sizes.begin(), sizes.end(), isInteger) || !std::all_of(strides.begin(), strides.end(), isInteger))
    damaged("describes a tensor whose sizes and strides do not match");
  const __int128 last = lastElement(offset, sizes, strides);
  if (offset < 0 || last == -2 || last >= storage.number)
    damaged(fmt::format("describes a tensor that reaches beyond its storage '{}' of {} elements", *storage.text, storage.number));
}

// A type as text ("Dict[str, List[int]]") is parsed recursively by LibTorch.
void checkTypeText(const Value& arguments) {
  const std::string& type = *at(arguments, 1, Value::Kind::text).text;
  if (std::count(type.begin(), type.end(), '[') > kMaxPickleNesting) damaged("names a type that nests too deeply");
}

std::vector<std::int64_t> numbersOf(const Value& tuple) {
  std::vector<std::int64_t> numbers;
  for (const Value& item : *tuple.items) numbers.push_back(item.number);
  return numbers;
}

// The tensors among what a dict holds; `tensor` was checked when it was made.
std::vector<PickledTensor> tensorsIn(const Value& dict) {
  std::vector<PickledTensor> tensors;
  for (std::size_t i = 0; dict.items && i + 1 < dict.items->size(); i += 2) {
    const Value& name = dict.items->at(i);
    const Value& tensor = dict.items->at(i + 1);
    if (name.kind != Value::Kind::text || tensor.kind != Value::Kind::tensor) continue;
    const Items& parts = *tensor.items;
    const std::string& storageClass = *parts[0].items->at(1).text;
    tensors.push_back({*name.text, storageClass.substr(storageClass.find(' ') + 1), *parts[0].text, parts[1].number, numbersOf(parts[2]), numbersOf(parts[3])});
  }
  return tensors;
}

class Scanner {
 public:
  explicit Scanner(std::string_view bytes) : m_bytes(bytes) {}

  PickleContents scan() {
    while (step()) {
    }
    return std::move(m_contents);
  }
  std::size_t position() const { return m_opcodeAt; }

 private:
  template <typename T>
  T read() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  std::string_view take(std::size_t count) {
    if (count > m_bytes.size() - m_next) damaged("ends in the middle of a value");
    m_next += count;
    return m_bytes.substr(m_next - count, count);
  }

  std::string_view takeLine() {
    const std::size_t end = m_bytes.find('\n', m_next);
    if (end == std::string_view::npos) damaged("ends in the middle of a name");
    const std::string_view line = m_bytes.substr(m_next, end - m_next);
    m_next = end + 1;
    return line;
  }

  void push(Value value) {
    if (value.depth > kMaxPickleNesting) damaged(fmt::format("nests deeper than {} levels", kMaxPickleNesting));
    m_stack.push_back(std::move(value));
  }
  void pushInteger(std::int64_t number) { push({.kind = Value::Kind::integer, .number = number}); }
  void pushText(std::string_view text) { push({.kind = Value::Kind::text, .text = std::make_shared<std::string>(text)}); }

  Value pop() {
    if (m_stack.empty() || (!m_marks.empty() && m_stack.size() <= m_marks.back())) damaged("takes a value where there is none");
    Value value = std::move(m_stack.back());
    m_stack.pop_back();
    return value;
  }

  Items popItems(std::size_t count) {
    Items items(count);
    for (std::size_t i = count; i-- > 0;) items[i] = pop();
    return items;
  }

  Items popToMark() {
    if (m_marks.empty()) damaged("closes a list that was never opened");
    Items items = popItems(m_stack.size() - m_marks.back());
    m_marks.pop_back();
    return items;
  }

  static int depthOf(const Items& items) {
    int depth = 0;
    for (const Value& item : items) depth = std::max(depth, item.depth);
    return depth;
  }

  void pushTuple(Items items) {
    const int depth = 1 + depthOf(items);
    push({.kind = Value::Kind::tuple, .depth = depth, .items = std::make_shared<const Items>(std::move(items))});
  }

  // torch.jit fills a container before it remembers it; one filled afterwards could nest without end.
  void fillTop(Items items) {
    Value container = pop();
    if (container.memoized) damaged("changes a list, dict or object after it was stored");
    container.depth = std::max(container.depth, 1 + depthOf(items));
    container.items = std::make_shared<const Items>(std::move(items));  // the last lot: torch.jit fills at once
    push(std::move(container));
  }

  // The outermost object is the last to be built.
  void build() {
    Items state = popItems(1);
    m_contents.members = tensorsIn(state.front());
    fillTop(std::move(state));
  }

  void remember(std::size_t slot) {
    if (m_stack.empty() || slot > m_memo.size()) damaged("remembers a value in a wrong place");
    m_stack.back().memoized = true;
    if (slot == m_memo.size())
      m_memo.push_back(m_stack.back());
    else
      m_memo[slot] = m_stack.back();
  }

  void recall(std::size_t slot) {
    if (slot >= m_memo.size()) damaged("recalls a value that was never stored");
    push(m_memo[slot]);
  }

  void pushStorage() {
    const Value id = pop();
    if (*at(id, 0, Value::Kind::text).text != "storage") damaged("refers to something other than a storage");
    const std::uint64_t size = elementSize(*at(id, 1, Value::Kind::global).text);
    const Value& key = at(id, 2, Value::Kind::text);
    const std::int64_t elements = at(id, 4, Value::Kind::integer).number;
    if (elements < 0 || static_cast<std::uint64_t>(elements) > INT64_MAX / size) damaged("declares a storage of impossible size");
    m_contents.storages.push_back({*key.text, static_cast<std::uint64_t>(elements) * size});
    push({.kind = Value::Kind::storage, .number = elements, .text = key.text, .items = id.items});
  }

  void reduce() {
    Value arguments = pop();
    const Value function = pop();
    if (function.kind == Value::Kind::global && arguments.kind == Value::Kind::tuple) {
      const std::string& name = *function.text;
      const bool isTensor = name == "torch._utils _rebuild_tensor_v2";
      if (isTensor || name == "torch._utils _rebuild_qtensor") checkTensor(arguments);
      if (isTensor) return push({.kind = Value::Kind::tensor, .depth = arguments.depth, .items = arguments.items});
      if (name == "torch.jit._pickle restore_type_tag") checkTypeText(arguments);
    }
    push({.kind = Value::Kind::container, .depth = arguments.depth});
  }

  void pushGlobal() {
    const std::string module(takeLine());
    const std::string name(takeLine());
    push({.kind = Value::Kind::global, .text = std::make_shared<std::string>(module + " " + name)});
  }

  // Little-endian two's complement of any length; what does not fit 64 bits is no size of a tensor.
  void pushLong(std::size_t length) {
    const std::string_view digits = take(length);
    if (length > 8) return push({});
    std::uint64_t number = length > 0 && (digits.back() & 0x80) ? ~std::uint64_t{0} : 0;
    std::memcpy(&number, digits.data(), length);
    pushInteger(static_cast<std::int64_t>(number));
  }

  bool step() {
    m_opcodeAt = m_next;
    const auto opcode = static_cast<unsigned char>(take(1).front());
    return opcode != '.' && (plainValue(opcode) || container(opcode) || memo(opcode) || object(opcode) || unknown(opcode));
  }

  bool plainValue(unsigned char opcode) {
    switch (opcode) {
      case 'N': push({}); return true;                                          // NONE
      case 0x88: case 0x89: push({}); return true;                              // NEWTRUE, NEWFALSE
      case 'K': pushInteger(read<std::uint8_t>()); return true;                 // BININT1
      case 'M': pushInteger(read<std::uint16_t>()); return true;                // BININT2
      case 'J': pushInteger(read<std::int32_t>()); return true;                 // BININT
      case 0x8a: pushLong(read<std::uint8_t>()); return true;                   // LONG1
      case 'G': take(8); push({}); return true;                                 // BINFLOAT
      case 'X': pushText(take(read<std::uint32_t>())); return true;             // BINUNICODE
      case 0x8c: pushText(take(read<std::uint8_t>())); return true;             // SHORT_BINUNICODE
      case 'T': pushText(take(read<std::uint32_t>())); return true;             // BINSTRING
      case 'U': pushText(take(read<std::uint8_t>())); return true;              // SHORT_BINSTRING
      default: return false;
    }
  }

  bool container(unsigned char opcode) {
    switch (opcode) {
      case '(': m_marks.push_back(m_stack.size()); return true;                 // MARK
      case ')': pushTuple({}); return true;                                     // EMPTY_TUPLE
      case ']': case '}': push({.kind = Value::Kind::container, .depth = 1}); return true;  // EMPTY_LIST, EMPTY_DICT
      case 't': pushTuple(popToMark()); return true;                            // TUPLE
      case 0x85: case 0x86: case 0x87: pushTuple(popItems(opcode - 0x84U)); return true;  // TUPLE1, TUPLE2, TUPLE3
      case 'a': fillTop(popItems(1)); return true;                              // APPEND
      case 's': fillTop(popItems(2)); return true;                              // SETITEM
      case 'e': case 'u': fillTop(popToMark()); return true;                    // APPENDS, SETITEMS
      default: return false;
    }
  }

  bool memo(unsigned char opcode) {
    switch (opcode) {
      case 'q': remember(read<std::uint8_t>()); return true;                    // BINPUT
      case 'r': remember(read<std::uint32_t>()); return true;                   // LONG_BINPUT
      case 'h': recall(read<std::uint8_t>()); return true;                      // BINGET
      case 'j': recall(read<std::uint32_t>()); return true;                     // LONG_BINGET
      default: return false;
    }
  }

  bool object(unsigned char opcode) {
    switch (opcode) {
      case 0x80: take(1); return true;                                          // PROTO
      case 'c': pushGlobal(); return true;                                      // GLOBAL
      case 0x81: pop(); pop(); push({.kind = Value::Kind::container, .depth = 1}); return true;  // NEWOBJ
      case 'b': build(); return true;                                           // BUILD
      case 'R': reduce(); return true;                                          // REDUCE
      case 'Q': pushStorage(); return true;                                     // BINPERSID
      default: return false;
    }
  }

  bool unknown(unsigned char opcode) { damaged(fmt::format("holds the pickle instruction {:#04x}, which torch.jit never writes", opcode)); }

  std::string_view m_bytes;
  std::size_t m_next = 0;
  std::size_t m_opcodeAt = 0;
  Items m_stack;
  Items m_memo;
  std::vector<std::size_t> m_marks;
  PickleContents m_contents;
};

}  // namespace

base::Result<PickleContents> scanPickle(std::string_view bytes) {
  Scanner scanner(bytes);
  try {
    return scanner.scan();
  } catch (const Damage& damage) {
    return Error{ErrorKind::input, damage.what, fmt::format("byte {}", scanner.position()), "do not load this file; export the model again"};
  }
}

}  // namespace ulpscope::model

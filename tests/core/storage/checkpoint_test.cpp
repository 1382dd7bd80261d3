// A training's checkpoint: what was written comes back bit for bit, for us and for h5py.
#include "core/base/hashing.h"
#include "tests/core/storage/sample_checkpoint.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <limits>

using namespace ulpscope;
using base::DType;
using storage::RawTensor;
using storage::TrainingCheckpoint;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

namespace {

class Checkpoint : public testing::Test {
 protected:
  std::string write(const TrainingCheckpoint& checkpoint) {
    const auto written = storage::writeCheckpoint(m_path, checkpoint);
    return written ? "" : written.error().message();
  }
  TrainingCheckpoint read() {
    const auto checkpoint = storage::readCheckpoint(m_path);
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.error().message();
    return checkpoint ? checkpoint.value() : TrainingCheckpoint{};
  }
  // The tensors as they come back.
  std::vector<RawTensor> through(const std::vector<RawTensor>& tensors) {
    fs::remove(m_path);
    TrainingCheckpoint checkpoint;
    checkpoint.parameters = tensors;
    EXPECT_EQ(write(checkpoint), "");
    return read().parameters;
  }
  void expectSame(const std::vector<RawTensor>& tensors) {
    const auto found = through(tensors);
    ASSERT_EQ(found.size(), tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      SCOPED_TRACE(tensors[i].name);
      EXPECT_EQ(found[i].name, tensors[i].name);
      EXPECT_EQ(found[i].dtype, tensors[i].dtype);
      EXPECT_EQ(found[i].shape, tensors[i].shape);
      EXPECT_TRUE(found[i].bytes == tensors[i].bytes);
    }
  }

  tests::ScratchFolder m_folder;
  std::string m_path = m_folder.file("step-00000040.h5");
};

TEST_F(Checkpoint, ComesBackWithEveryField) {
  const TrainingCheckpoint checkpoint = tests::sampleCheckpoint();
  const auto sum = storage::writeCheckpoint(m_path, checkpoint);
  ASSERT_TRUE(sum.ok()) << sum.error().message();
  EXPECT_EQ(sum.value(), base::sha256OfFile(m_path).value());
  EXPECT_EQ(tests::allOf(read()), tests::allOf(checkpoint));
  struct stat info {};
  ASSERT_EQ(::stat(m_path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0222, 0U) << "read-only";
  EXPECT_FALSE(fs::exists(m_path + ".part"));
}

TEST_F(Checkpoint, OfNothingComesBack) {
  EXPECT_EQ(write({}), "");
  EXPECT_EQ(tests::allOf(read()), tests::allOf({}));
}

TEST_F(Checkpoint, TellsAnEmptyScalerFromNone) {
  TrainingCheckpoint checkpoint;
  checkpoint.scaler.emplace();
  EXPECT_EQ(write(checkpoint), "");
  EXPECT_TRUE(read().scaler.has_value());
}

TEST_F(Checkpoint, KeepsEveryNumberOfAScaler) {
  TrainingCheckpoint checkpoint;
  double payload = 0;
  const std::uint64_t bits = 0x7FF4000000000123;  // a signalling NaN
  std::memcpy(&payload, &bits, sizeof payload);
  checkpoint.scaler = {{"nan", payload}, {"inf", std::numeric_limits<double>::infinity()}, {"minus zero", -0.0}, {"tiny", std::numeric_limits<double>::denorm_min()}, {"", 0.1}};
  EXPECT_EQ(write(checkpoint), "");
  EXPECT_EQ(tests::allOf(read()), tests::allOf(checkpoint));
}

TEST_F(Checkpoint, KeepsLongTexts) {
  TrainingCheckpoint checkpoint;
  for (int i = 0; i < 200000; ++i) checkpoint.events += "{\"step\":" + std::to_string(i) + ",\"wort\":\"übrig\"}\n";
  checkpoint.trajectory = std::string(3 << 20, 't');
  checkpoint.policyTable = std::string(100000, 'p');  // an attribute
  EXPECT_EQ(write(checkpoint), "");
  const TrainingCheckpoint found = read();
  EXPECT_TRUE(found.events == checkpoint.events && found.trajectory == checkpoint.trajectory && found.policyTable == checkpoint.policyTable);
}

TEST_F(Checkpoint, KeepsEveryDtypeAndShape) {
  std::vector<RawTensor> tensors;
  for (const DType dtype : {DType::float64, DType::float32, DType::float16, DType::bfloat16, DType::int64, DType::int32, DType::int16, DType::int8, DType::uint8, DType::boolean, DType::complex64,
                            DType::complex128})
    for (const std::vector<std::int64_t>& shape : std::vector<std::vector<std::int64_t>>{{}, {1}, {0}, {3, 0, 2}, {2, 3, 1, 5}, std::vector<std::int64_t>(32, 1)})
      tensors.push_back(tests::tensorOf(base::name(dtype) + "." + std::to_string(shape.size()), dtype, shape, 1 + static_cast<int>(tensors.size())));
  expectSame(tensors);
}

// What a conversion would change: NaN payloads, signalling NaN, subnormals, minus zero, and every pattern of 16 bits.
TEST_F(Checkpoint, KeepsEveryBit) {
  std::vector<RawTensor> tensors;
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    RawTensor all{base::name(dtype), dtype, {256, 256}, std::vector<std::byte>(2 * 65536)};
    for (std::size_t i = 0; i < 65536; ++i) all.bytes[2 * i] = static_cast<std::byte>(i & 0xFF), all.bytes[2 * i + 1] = static_cast<std::byte>(i >> 8);
    tensors.push_back(all);
  }
  const std::vector<std::uint32_t> single{0x7FA00001, 0xFFC12345, 0x7F800000, 0xFF800000, 0x80000000, 1, 0x807FFFFF, 0x7F7FFFFF};
  const std::vector<std::uint64_t> twice{0x7FF4000000000001, 0xFFF8000000012345, 0x7FF0000000000000, 0x8000000000000000, 1, 0x800FFFFFFFFFFFFF};
  for (const DType dtype : {DType::float32, DType::complex64, DType::int32}) {
    const auto elements = static_cast<std::int64_t>(4 * single.size() / base::sizeBytes(dtype));
    tensors.push_back({base::name(dtype), dtype, {elements}, std::vector<std::byte>(4 * single.size())});
    std::memcpy(tensors.back().bytes.data(), single.data(), tensors.back().bytes.size());
  }
  for (const DType dtype : {DType::float64, DType::complex128, DType::int64}) {
    const auto elements = static_cast<std::int64_t>(8 * twice.size() / base::sizeBytes(dtype));
    tensors.push_back({base::name(dtype), dtype, {elements}, std::vector<std::byte>(8 * twice.size())});
    std::memcpy(tensors.back().bytes.data(), twice.data(), tensors.back().bytes.size());
  }
  expectSame(tensors);
}

TEST_F(Checkpoint, KeepsEveryNameInOrder) {
  std::vector<RawTensor> tensors;
  for (const std::string& name : {std::string("z.weight"), std::string("a.weight"), std::string(), std::string("."), std::string(".."), std::string("/"), std::string("a/b"), std::string("./a"),
                                  std::string("größe.Ω.\xF0\x9F\x94\xA5"), std::string("two\nlines"), std::string(" "), std::string(70000, 'n'), std::string("a.weight.1")})
    tensors.push_back(tests::tensorOf(name, DType::float32, {2}, static_cast<int>(tensors.size())));
  for (int i = 0; i < 1200; ++i) tensors.push_back(tests::tensorOf("layers." + std::to_string(1200 - i), DType::uint8, {1}, i));
  expectSame(tensors);
}

TEST_F(Checkpoint, RefusesWhatAFileCannotHoldWithOneLineAndLeavesNothing) {
  const auto said = [&](auto change) {
    TrainingCheckpoint checkpoint = tests::sampleCheckpoint();
    change(checkpoint);
    const auto written = storage::writeCheckpoint(m_path, checkpoint);
    EXPECT_FALSE(written.ok());
    EXPECT_EQ(written.error().kind, base::ErrorKind::run);
    EXPECT_TRUE(fs::is_empty(m_folder.path()));
    EXPECT_THAT(written.error().message(), Not(HasSubstr("\n")));
    return written.error().message();
  };
  EXPECT_THAT(said([](auto& c) { c.parameters[1].name = "bad\xFF"; }), HasSubstr("parameters, 000001: is not UTF-8"));
  EXPECT_THAT(said([](auto& c) { c.optimizers[1].parameters[0].name = "\xC3"; }), HasSubstr("optimizers: is not UTF-8"));
  EXPECT_THAT(said([](auto& c) { c.events = "\xED\xA0\x80\xFF"; }), HasSubstr("events: is not UTF-8"));
  EXPECT_THAT(said([](auto& c) { c.buffers[0].name = std::string("a\0b", 3); }), HasSubstr("holds a NUL character"));
  EXPECT_THAT(said([](auto& c) { c.buffers[0] = tests::tensorOf("deep", DType::int8, std::vector<std::int64_t>(33, 1)); }), HasSubstr("deep: has 33 dimensions, HDF5 stores up to 32"));
}

TEST_F(Checkpoint, IsNeverWrittenOverAnother) {
  EXPECT_EQ(write(tests::sampleCheckpoint()), "");
  const std::string before = tests::readFile(m_path);
  const auto again = storage::writeCheckpoint(m_path, {});
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().kind, base::ErrorKind::usage);
  EXPECT_THAT(again.error().message(), HasSubstr("step-00000040.h5: exists already"));
  EXPECT_EQ(tests::readFile(m_path), before);
  fs::create_symlink("nowhere", m_folder.file("link.h5"));
  EXPECT_EQ(storage::writeCheckpoint(m_folder.file("link.h5"), {}).error().kind, base::ErrorKind::usage);
}

TEST_F(Checkpoint, SaysWhereItCannotBeWritten) {
  m_path = m_folder.file("none/step-00000040.h5");
  const auto written = storage::writeCheckpoint(m_path, {});
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().kind, base::ErrorKind::run);
  EXPECT_THAT(written.error().message(), AllOf(HasSubstr(m_path), HasSubstr("cannot be created: No such file or directory"), Not(HasSubstr("\n"))));
}

// The independent reader.
TEST_F(Checkpoint, IsReadByH5py) {
  TrainingCheckpoint checkpoint = tests::sampleCheckpoint();
  checkpoint.parameters.push_back({"half", DType::float16, {2}, {std::byte{0}, std::byte{0x3C}, std::byte{1}, std::byte{0x7C}}});      // 1, NaN
  checkpoint.parameters.push_back({"brain", DType::bfloat16, {2}, {std::byte{0x80}, std::byte{0x3F}, std::byte{0x80}, std::byte{0xFF}}});  // 1, -inf
  checkpoint.parameters.push_back({"pair", DType::complex64, {}, {std::byte{0}, std::byte{0}, std::byte{0x80}, std::byte{0x3F}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0xC0}}});  // 1 - 2i
  checkpoint.parameters.push_back({"none", DType::int16, {0, 3}, {}});
  EXPECT_EQ(write(checkpoint), "");
  EXPECT_TRUE(tests::python(m_folder, R"(
import h5py, hashlib, numpy as np
data = open('step-00000040.h5', 'rb').read()
assert data[-83:] == b'\nULPSCOPE SHA-256 ' + hashlib.sha256(data[:-83]).hexdigest().encode() + b'\n'
with h5py.File('step-00000040.h5', 'r') as f:
    assert f.attrs['NX_class'] == 'NXroot' and f.attrs['file_format'] == 'ulpscope-checkpoint/1' and f.attrs['default'] == 'checkpoint'
    c = f['checkpoint']
    assert c.attrs['NX_class'] == 'NXentry' and c.attrs['title'] == 'after 40 steps'
    assert c.attrs['step'] == 40 and c.attrs['micro_batches'] == 81 and c.attrs['scheduler_steps'] == 39 and c.attrs['applied_updates'] == 38 and c.attrs['scalers_made'] == 2
    assert int(c.attrs['seed']) % 2**64 == 2**64 - 3
    assert c.attrs['policy_table'] == 'cuda@2.6' and c.attrs['created'] == '2026-01-02T03:04:05Z' and c.attrs['creator_version'] == '0.9.1'
    assert c['recipe'][()].decode() == '{"model":"m.ts","note":"größer"}'
    assert c['events'][()].decode().splitlines() == ['{"call":"step"}', '{"call":"update"}']
    assert c['generator'].dtype == np.uint8 and c['generator'].shape == (5056,) and c['generator'][0] == 7
    assert dict(zip(c['scaler/keys'].asstr()[()], c['scaler/values'][()])) == {'scale': 65536.0, 'growth_factor': 2.0, '_growth_tracker': 12.0}
    p = {d.attrs['name']: d for d in c['parameters'].values()}
    assert list(p) == ['fc2.weight', 'fc1.weight', 'half', 'brain', 'pair', 'none']
    assert p['fc2.weight'].dtype == np.float32 and p['fc2.weight'][()].tobytes() == bytes(range(1, 49))
    assert p['fc1.weight'].dtype == np.float16 and p['fc1.weight'][()].tobytes() == bytes(range(9, 17))
    assert p['half'][0] == 1 and p['half'][()].tobytes() == b'\x00\x3c\x01\x7c'
    assert p['brain'].attrs['dtype'] == 'bfloat16' and p['brain'][()].tolist() == [1.0, -np.inf]
    assert p['pair'].dtype == np.complex64 and p['pair'][()] == 1 - 2j
    assert p['none'].dtype == np.int16 and p['none'].shape == (0, 3)
    b = {d.attrs['name']: d for d in c['buffers'].values()}
    assert b['bn.num_batches_tracked'].dtype == np.int64 and b['bn.num_batches_tracked'].shape == ()
    assert b['bn.num_batches_tracked'][()] == 0x0807060504030201
    assert c['tensor_attributes/000000'].dtype == bool and c['tensor_attributes/000000'][()].tolist() == [True, False, True, False, True]
    o = c['optimizers']
    assert [g.attrs['type'] for g in o.values()] == ['Adam', 'SGD'] and o['0000'].attrs['name'] == 'adam'
    assert o['0000/parameters'].asstr()[()].tolist() == ['fc2.weight', 'fc1.weight'] and o['0000/steps'][()].tolist() == [38, 0]
    assert o['0000/state_of'][()].tolist() == [0, 0] and [d.attrs['name'] for d in o['0000/state'].values()] == ['exp_avg', 'exp_avg_sq']
    assert o['0001/state_of'][()].tolist() == [1] and o['0001/state/000000'].dtype == np.float64
    def dirs(name, thing):
        assert isinstance(thing, (h5py.Dataset, h5py.Group))
        if isinstance(thing, h5py.Dataset): assert thing.chunks is None and thing.compression is None
    f.visititems(dirs)
)"));
}

}  // namespace

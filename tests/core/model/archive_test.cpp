// The gate before LibTorch, tried on files that PyTorch itself wrote and on what can be made of them.
#include "core/model/archive.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>

using namespace ulpscope;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

namespace {

// Copies script.ts to bad.ts with `edit(name, bytes)` applied to every record; `extra` appends to the new zip z.
constexpr const char* kRewrite = R"(
import zipfile, struct, pickle
def rewrite(edit=lambda name, data: data, extra=lambda z: None):
    with zipfile.ZipFile('script.ts') as old, zipfile.ZipFile('bad.ts', 'w') as z:
        for item in old.infolist():
            data = edit(item.filename, old.read(item))
            if data is not None: z.writestr(item.filename, data)
        extra(z)
)";

class Archive : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    s_folder = new tests::ScratchFolder;
    fs::copy(ULPSCOPE_TEST_ARCHIVES, s_folder->path());
  }
  static void TearDownTestSuite() {
    delete s_folder;
    s_folder = nullptr;
  }

  static std::string file(const std::string& name) { return s_folder->file(name); }
  static model::Fingerprint fingerprint(const std::string& name) {
    const auto checked = model::checkArchive(file(name));
    EXPECT_TRUE(checked.ok()) << checked.error().message();
    return checked.ok() ? checked.value() : model::Fingerprint{};
  }
  static std::string error(const std::string& name) {
    const auto checked = model::checkArchive(file(name));
    return checked.ok() ? "accepted" : checked.error().message();
  }
  static std::string errorOfRewritten(const std::string& script) {
    EXPECT_TRUE(tests::python(*s_folder, kRewrite + script));
    return error("bad.ts");
  }

  static tests::ScratchFolder* s_folder;
};

tests::ScratchFolder* Archive::s_folder = nullptr;

TEST_F(Archive, AcceptsWhatTorchJitSaves) {
  for (const char* name : {"script.ts", "renamed.pt", "trace.ts", "holder.ts", "other_weights.ts"}) EXPECT_EQ(error(name), "accepted") << name;
}

TEST_F(Archive, AcceptsARewrittenArchiveSoThatTheTestsBelowFailForTheirOwnReason) {
  EXPECT_EQ(errorOfRewritten("rewrite()"), "accepted");
  EXPECT_EQ(fingerprint("bad.ts"), fingerprint("script.ts"));
}

TEST_F(Archive, FingerprintsCodeAndWeightsApart) {
  const auto script = fingerprint("script.ts");
  EXPECT_EQ(script.codeSha256.size(), 64U);
  EXPECT_EQ(fingerprint("renamed.pt"), script) << "the file's name is no part of the model";
  EXPECT_EQ(fingerprint("other_weights.ts").codeSha256, script.codeSha256);
  EXPECT_NE(fingerprint("other_weights.ts").weightsSha256, script.weightsSha256);
  EXPECT_NE(fingerprint("trace.ts").codeSha256, script.codeSha256);
}

// By hashlib, over the stream that archive.h and archive.cpp describe.
TEST_F(Archive, FingerprintIsTheSha256OfNamesAndBytes) {
  const auto script = fingerprint("script.ts");
  EXPECT_TRUE(tests::python(*s_folder, R"(
import zipfile, hashlib
code, weights = hashlib.sha256(), hashlib.sha256()
with zipfile.ZipFile('script.ts') as z:
    for name in sorted(z.namelist(), key=lambda n: n.split('/', 1)[1].encode()):
        short, data = name.split('/', 1)[1], z.read(name)
        h = code if short.startswith('code/') and not short.endswith('.debug_pkl') else \
            weights if short in ('data.pkl', 'constants.pkl') or short.startswith(('data/', 'constants/')) else None
        if h: h.update(f'{short}\n{len(data)}\n'.encode() + data)
assert code.hexdigest() == ')" + script.codeSha256 + "', code.hexdigest()\nassert weights.hexdigest() == '" + script.weightsSha256 + "'\n"));
}

TEST_F(Archive, NamesWhatIsNoModel) {
  EXPECT_THAT(error("none.ts"), HasSubstr("does not exist"));
  fs::create_directory(file("folder.ts"));
  EXPECT_THAT(error("folder.ts"), HasSubstr("is a folder"));
  tests::writeFile(file("empty.ts"), "");
  EXPECT_THAT(error("empty.ts"), HasSubstr("is empty"));
  tests::writeFile(file("text.ts"), "def forward(self): pass\n");
  EXPECT_THAT(error("text.ts"), AllOf(HasSubstr("not a zip archive"), HasSubstr("ulpscope snippet")));
  EXPECT_THAT(error("weights.pt"), AllOf(HasSubstr("without code"), HasSubstr("torch.jit.script"), HasSubstr("ulpscope snippet")));
  EXPECT_THAT(error("legacy.pt"), AllOf(HasSubstr("a pickle"), HasSubstr("ulpscope snippet")));
}

// The layouts of torch.export archives of PyTorch 2.6 and of later ones; 1.13 cannot write them.
TEST_F(Archive, NamesATorchExportArchive) {
  for (const char* members : {"['serialized_exported_program.json', 'serialized_state_dict.pt', 'version']",
                              "['m/data/weights/weight_0', 'm/models/model.json', 'm/archive_format', 'm/.data/version']"}) {
    ASSERT_TRUE(tests::python(*s_folder, std::string("import zipfile\nwith zipfile.ZipFile('e.pt2', 'w') as z:\n  for m in ") + members + ": z.writestr(m, 'pt2')"));
    EXPECT_THAT(error("e.pt2"), AllOf(HasSubstr("torch.export"), HasSubstr("torch.jit.trace")));
  }
}

TEST_F(Archive, FindsAFlippedBitInEveryRecord) {
  ASSERT_TRUE(tests::python(*s_folder, R"(
import zipfile, struct
whole = open('script.ts', 'rb').read()
with zipfile.ZipFile('script.ts') as z:
    for i, item in enumerate(r for r in z.infolist() if r.compress_size):
        at = item.header_offset
        name, extra = struct.unpack('<HH', whole[at + 26:at + 30])
        data = bytearray(whole)
        data[at + 30 + name + extra + item.compress_size // 2] ^= 0x10
        open(f'flipped{i}.ts', 'wb').write(data)
)"));
  int files = 0;
  for (; fs::exists(file("flipped" + std::to_string(files) + ".ts")); ++files)
    EXPECT_THAT(error("flipped" + std::to_string(files) + ".ts"), HasSubstr("is damaged")) << files;
  EXPECT_GT(files, 10);
}

TEST_F(Archive, ATruncatedFileIsAnErrorAtEveryLength) {
  const std::string whole = tests::readFile(file("script.ts"));
  for (std::size_t length = 0; length < whole.size(); length += 41) {
    tests::writeFile(file("cut.ts"), whole.substr(0, length));
    ASSERT_THAT(error("cut.ts"), AllOf(HasSubstr(file("cut.ts")), Not(HasSubstr("\n")))) << length;
  }
}

TEST_F(Archive, AChangedByteIsNeverACrash) {
  const std::string whole = tests::readFile(file("script.ts"));
  for (std::size_t at = 0; at < whole.size(); at += 7) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(~damaged[at]);
    tests::writeFile(file("changed.ts"), damaged);
    static_cast<void>(error("changed.ts"));
  }
  EXPECT_EQ(error("script.ts"), "accepted");
}

// LibTorch loads these and reads beyond the record's end.
TEST_F(Archive, RefusesAStorageThatIsShorterThanDeclared) {
  EXPECT_THAT(errorOfRewritten("rewrite(lambda n, d: d[:-1] if '/data/' in n and len(d) == 48 else d)"), AllOf(HasSubstr("47 bytes where 48 are declared"), HasSubstr(", data/")));
  EXPECT_THAT(errorOfRewritten("rewrite(lambda n, d: None if '/data/' in n and len(d) == 48 else d)"), HasSubstr("which the archive does not have"));
}

TEST_F(Archive, ChecksTheStoragesOfConstantsToo) {
  // A constant tensor as torch.jit stores it, in a constants record that is too short.
  EXPECT_THAT(errorOfRewritten(R"(
storage = b'(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\x000X\x03\0\0\0cpuK\x04tQ'
tensor = b'ctorch._utils\n_rebuild_tensor_v2\n(' + storage + b'K\0K\x04\x85K\x01\x85\x89ccollections\nOrderedDict\n)RtR'
root = zipfile.ZipFile('script.ts').namelist()[0].split('/')[0]
rewrite(lambda n, d: b'\x80\x02(' + tensor + b't.' if n.endswith('constants.pkl') else d,
        lambda z: z.writestr(root + '/constants/0', b'123456789012345')))"),
              AllOf(HasSubstr("constants/0"), HasSubstr("15 bytes where 16 are declared")));
}

TEST_F(Archive, RefusesDeepNestingOfCodeAndPickles) {
  EXPECT_THAT(errorOfRewritten("rewrite(lambda n, d: d + b'x = ' + b'(' * 200000 + b'1' + b')' * 200000 if n.endswith('.py') else d)"),
              AllOf(HasSubstr(".py, line"), HasSubstr("nests deeper than 1000")));
  EXPECT_THAT(errorOfRewritten("rewrite(lambda n, d: b'\\x80\\x02)' + b'\\x85' * 500000 + b'.' if n.endswith('/constants.pkl') else d)"),
              AllOf(HasSubstr("constants.pkl, byte"), HasSubstr("nests deeper than 1000")));
  EXPECT_THAT(errorOfRewritten("rewrite(lambda n, d: b'\\x80\\x02)' + b'\\x85' * 500000 + b'.' if n.endswith('.debug_pkl') else d)"),
              HasSubstr("nests deeper than 1000"));
}

TEST_F(Archive, RefusesZipBombsAndTwoRecordsOfOneName) {
  EXPECT_THAT(errorOfRewritten("rewrite(extra=lambda z: z.writestr(zipfile.ZipInfo('script/data/bomb'), bytes(200 << 20), zipfile.ZIP_DEFLATED))"),
              AllOf(HasSubstr("script/data/bomb"), HasSubstr("claims to hold 209715200 bytes")));
  EXPECT_THAT(errorOfRewritten("import warnings; warnings.simplefilter('ignore')\nrewrite(extra=lambda z: z.writestr('script/data.pkl', b'x'))"), HasSubstr("two records of one name"));
  EXPECT_THAT(errorOfRewritten("rewrite(extra=lambda z: z.writestr(zipfile.ZipInfo('script/data/b'), b'abc' * 99, zipfile.ZIP_BZIP2))"), HasSubstr("never uses"));
}

TEST_F(Archive, RefusesBigEndianWeights) {
  EXPECT_THAT(errorOfRewritten("rewrite(extra=lambda z: z.writestr('script/byteorder', b'big'))"), HasSubstr("big-endian"));
  EXPECT_EQ(errorOfRewritten("rewrite(extra=lambda z: z.writestr('script/byteorder', b'little'))"), "accepted");
}

}  // namespace

// Golden runs of `ulpscope inspect` against an engine that answers from memory.
#include "program.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace ulpscope::test {
namespace {

using nlohmann::json;

TEST(CliInspect, ShowsTreeOpsAndArguments) {
  const Folder folder;
  const Finished done = withFakeEngine(folder, "ok", {{"inspect", "m.ts"}, {}, 0, "", ""});
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(done.out,
            "m.ts: 3 modules, 6 parameters\n"
            "forward(x: Tensor, mask: Optional[Tensor] (optional))\n"
            "code c0dec0dec0de, weights 3e193e193e19 (SHA-256)\n\n"
            "MODULES\n"
            "  (root)                                   Net\n"
            "    block                                  Sequential\n"
            "      0                                    Linear, 6 parameters, also head\n\n"
            "OP SITES, as they stand in the code, and what autocast (cuda@1.13) does to each\n"
            "  lower_precision_fp   aten::linear                     block.0                              net.py:7\n"
            "  promote              aten::add.Tensor                 (root)                               net.py:9\n"
            "  none                 mine::scale                      block.0                              net.py:8\n"
            "  in all: 1 lower_precision_fp, 1 none, 1 promote\n"
            "  lower_precision_fp: inputs are cast to FP16 or BF16\n"
            "  promote: inputs are cast to the widest dtype among them\n"
            "  none: runs in the dtypes it is given; ops inside it may stand on a list\n\n"
            "OPERATORS, and what LibTorch 1.13.1 registers for cuda\n"
            "  class                op                               sites  kernel       autocast kernel\n"
            "  lower_precision_fp   aten::linear                         1  composite    yes\n"
            "  promote              aten::add.Tensor                     1  none         no\n"
            "  none                 mine::scale                          1  generic      no   a custom op without an autocast kernel: runs in the type of its inputs\n"
            "  composite: made of other ops, which have kernels of their own\n"
            "  generic: one kernel for every device\n"
            "  none: no kernel for this device in this build\n"
            "  note: LibTorch 1.13.1, which this engine runs, has no kernels for cuda; what another build has there, it cannot know\n"
            "  note: PyTorch calls a ROCm device cuda as well: the classes hold for both\n\n"
            "DIFFERENT IN OTHER TABLES OF THIS DEVICE (--target NAME)\n"
            "  cuda@2.6     none                 instead of promote              aten::add.Tensor (1 site)\n\n"
            "warning: stored in float16: not pure FP32\n");
}

TEST(CliInspect, AsJsonGivesModelAndOps) {
  const Folder folder;
  const json document = json::parse(withFakeEngine(folder, "ok", {{"inspect", "m.ts", "--json", "-"}, {}, 0, "", ""}).out);
  EXPECT_EQ(document["status"], "ok");
  EXPECT_EQ(document["ops"][1], (json{{"module", ""}, {"op", "aten::add"}, {"overload", "Tensor"}, {"source", "net.py:9"}, {"class", "promote"}, {"kernel", "none"}, {"autocast_kernel", false}, {"other_tables", {{"cuda@2.6", "none"}}}}));
  EXPECT_EQ(document["target"]["device_present"], false);
  EXPECT_EQ(document["model"]["arguments"][0]["name"], "x");
}

TEST(CliInspect, AFailureIsInTheDocumentToo) {
  const Folder folder;
  const Finished failed = withFakeEngine(folder, "error:input", {{"inspect", "m.ts", "--json", "-"}, {}, 0, "", ""});
  EXPECT_EQ(failed.code, 3);
  EXPECT_EQ(json::parse(failed.out)["error"]["what"], "is not good");
}

TEST(CliInspect, AnEngineThatDiesOfTheFileBlamesTheFileFirst) {
  const Folder folder;
  const Finished failed = withFakeEngine(folder, "crash", {{"inspect", "m.ts"}, {}, 0, "", ""});
  EXPECT_EQ(failed.code, 4);
  EXPECT_EQ(failed.err, "ulpscope: m.ts: the engine was ended by signal 11 (Segmentation fault) (while loading); the model file may be damaged: "
                        "see whether PyTorch's torch.jit.load takes it, and save it anew; `ulpscope doctor` checks the engine\n");
}

}  // namespace
}  // namespace ulpscope::test

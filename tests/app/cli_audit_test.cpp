// `ulpscope train --audit`, with records that a loop of PyTorch's own wrote.
#include "program.h"
#include "tests/core/report/schema_validator.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>

namespace ulpscope::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

// Trains 12 steps, and again from the sixth on with one state left out of what is restored. GradScaler is disabled without CUDA: its rule
// (torch/amp/grad_scaler.py, no inf: the scale doubles every growth_interval updates) is written out.
constexpr const char* kLoop = R"py(
import copy, hashlib, json, os
import torch
from torch import nn
torch.set_num_threads(1)
DATA = torch.randn(64, 4, generator=torch.Generator().manual_seed(5))

class Scaler:
    def __init__(self): self.scale, self.tracker = 65536.0, 0
    def update(self):
        self.tracker += 1
        if self.tracker == 4: self.scale, self.tracker = self.scale * 2, 0
    def state_dict(self): return dict(vars(self))
    def load_state_dict(self, state): vars(self).update(state)

class Loop:
    def __init__(self, seed):
        torch.manual_seed(seed)
        self.model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 1))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 2, 0.5)
        self.scaler = Scaler()
        self.data = torch.Generator().manual_seed(seed)

    def save(self):
        parts = {name: getattr(self, name).state_dict() for name in ("model", "optimizer", "scheduler", "scaler")}
        return copy.deepcopy({**parts, "rng": torch.get_rng_state(), "data": self.data.get_state()})

    def load(self, saved, without):
        if without == "moments": saved = {**saved, "optimizer": {**saved["optimizer"], "state": {}}}
        for name in ("model", "optimizer", "scheduler", "scaler"):
            if name != without: getattr(self, name).load_state_dict(copy.deepcopy(saved[name]))
        if without != "data": self.data.set_state(saved["data"])
        if without != "rng": torch.set_rng_state(saved["rng"])

    def step(self):
        state = {"rng": digest([torch.get_rng_state()]), "weights": digest(self.model.parameters()), "buffers": digest(self.model.buffers()),
                 "optimizer_state": digest([v for s in self.optimizer.state_dict()["state"].values() for v in s.values() if torch.is_tensor(v)]),
                 "scale_before": self.scaler.scale, "lr": self.optimizer.param_groups[0]["lr"]}
        rows = torch.randint(64, (8,), generator=self.data)
        self.optimizer.zero_grad()
        loss = (self.model(DATA[rows]) - DATA[rows].sum(1, keepdim=True)).square().mean()
        loss.backward()
        norm = torch.cat([p.grad.flatten() for p in self.model.parameters()]).double().norm()
        self.optimizer.step()
        self.scaler.update()
        self.scheduler.step()
        return {**state, "rows": rows.tolist(), "loss": loss.item(), "grad_norm": norm.item(), "growth_tracker": self.scaler.tracker, "scale_after": self.scaler.scale,
                "scheduler_steps": self.scheduler.last_epoch, "skipped": False}

def digest(tensors): return hashlib.sha256(b"".join(t.detach().contiguous().numpy().tobytes() for t in tensors)).hexdigest()

def write(path, lines, first, dropped=()):
    with open(path, "w") as file:
        head = {"ulpscope_ledger": 1, "optimizers": ["adam"], "settings": {"torch": torch.__version__, "lr": 0.01}}
        print(json.dumps({**head, "resumed_at": first} if first else head), file=file)
        for i, line in enumerate(lines): print(json.dumps({"step": first + i, "optimizer": "adam", **{k: v for k, v in line.items() if k not in dropped}}, allow_nan=False), file=file)

whole = Loop(1)
lines = [whole.step() for _ in range(6)]
saved = whole.save()
lines += [whole.step() for _ in range(6)]
bare = ("weights", "optimizer_state", "rng", "buffers", "rows")
for name in ("nothing", "model", "optimizer", "scheduler", "scaler", "rng", "data", "moments"):
    os.mkdir(name)
    resumed = Loop(2)
    resumed.load(saved, name)
    dropped = bare if name == "moments" else ()
    write(name + "/uninterrupted.jsonl", lines, 0, dropped)
    write(name + "/resumed.jsonl", [resumed.step() for _ in range(6)], 6, dropped)
)py";

TEST(CliAudit, NamesWhatALoopOfPyTorchsForgot) {
  const tests::ScratchFolder loops;
  ASSERT_TRUE(tests::python(loops, kLoop));
  const Folder folder;
  const auto finding = [&](const std::string& name) {
    const Finished done = ulpscope(folder, {"train", "--audit", loops.file(name), "--json", name + ".json"});
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr("resumed.jsonl against uninterrupted.jsonl\nCompared       6 steps, 6 to 11; resumed after 6 steps"));
    const json first = json::parse(folder.read(name + ".json"))["first"];
    return first.is_null() ? "none" : first["step"].dump() + " " + first["state"].get<std::string>() + ": " + first["meaning"].get<std::string>();
  };
  EXPECT_EQ(finding("nothing"), "none") << "all was restored, bit for bit";
  EXPECT_THAT(finding("model"), HasSubstr("6 weights: "));
  EXPECT_THAT(finding("optimizer"), AllOf(HasSubstr("6 optimizer_state: "), HasSubstr("optimizer.state_dict()")));
  EXPECT_THAT(finding("scheduler"), AllOf(HasSubstr("6 scheduler_steps: "), HasSubstr("scheduler.state_dict()")));
  EXPECT_THAT(finding("scaler"), AllOf(HasSubstr("6 scale_before: "), HasSubstr("GradScaler.state_dict()")));
  EXPECT_THAT(finding("rng"), AllOf(HasSubstr("6 rng: "), HasSubstr("random states")));
  EXPECT_THAT(finding("data"), AllOf(HasSubstr("6 rows: "), HasSubstr("data position")));
  EXPECT_THAT(finding("moments"), AllOf(HasSubstr("7 loss: the first step after the resume agrees"), HasSubstr("optimizer.state_dict()")));
}

TEST(CliAudit, ReadsLedgersThatFitTheSchema) {
  const tests::ScratchFolder loops;
  ASSERT_TRUE(tests::python(loops, kLoop));
  std::ifstream file(ULPSCOPE_LEDGER_SCHEMA);
  const json schema = json::parse(file);
  std::istringstream lines(tests::readFile(loops.file("data/resumed.jsonl")));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_EQ(schemaFaults(schema, json::parse(line)), std::vector<std::string>{}) << line;
  EXPECT_EQ(count, 7);
}

TEST(CliAudit, SaysInOneLineWhatTheFolderLacks) {
  const Folder folder;
  const auto says = [&](const std::string& name) { return ulpscope(folder, {"train", "--audit", name}).err; };
  const auto fill = [&](const std::string& name, const std::vector<std::string>& files, const std::string& lines) {
    std::filesystem::create_directory(folder.path(name));
    for (const std::string& file : files) folder.write(name + "/" + file, lines);
  };
  const std::string head = "{\"ulpscope_ledger\": 1}\n";
  EXPECT_THAT(says("nowhere"), HasSubstr("nowhere: cannot be listed"));
  fill("empty", {}, "");
  EXPECT_THAT(says("empty"), HasSubstr("empty: holds no record named uninterrupted; let it hold two records"));
  fill("one", {"uninterrupted.jsonl"}, head);
  EXPECT_THAT(says("one"), HasSubstr("holds no record named resumed"));
  fill("more", {"uninterrupted.jsonl", "resumed.jsonl", "notes.txt"}, head);
  EXPECT_THAT(says("more"), HasSubstr("holds notes.txt, which is no record"));
  fill("both", {"uninterrupted.jsonl", "resumed.jsonl", "resumed.json"}, head);
  EXPECT_THAT(says("both"), HasSubstr("holds both resumed.json and resumed.jsonl; take one of the two out"));
  fill("apart", {"uninterrupted.jsonl"}, head + "{\"step\": 0, \"loss\": 1}\n");
  fill("apart/", {"resumed.jsonl"}, head + "{\"step\": 1, \"loss\": 1}\n");
  const Finished apart = ulpscope(folder, {"train", "--audit", "apart"});
  EXPECT_EQ(apart.code, 5);
  EXPECT_THAT(apart.err, HasSubstr("no step of one optimizer in common"));
  fill("odd", {"uninterrupted.json", "resumed.json"}, "[1]");
  const Finished odd = ulpscope(folder, {"train", "--audit", "odd"});
  EXPECT_EQ(odd.code, 3);
  EXPECT_THAT(odd.err, HasSubstr("is no training's document"));
  fill("foreign", {"uninterrupted.ulps", "resumed.ulps"}, "no HDF5");
  EXPECT_EQ(ulpscope(folder, {"train", "--audit", "foreign"}).code, 3);
  EXPECT_EQ(ulpscope(folder, {"train", "--audit", "apart", "--isolate"}).code, 2);
}

}  // namespace
}  // namespace ulpscope::test

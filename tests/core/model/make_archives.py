"""Saves the archives that archive_test.cpp reads: scripted, traced, other weights, a holder of tensors, weights only."""
import os, sys, warnings

import torch

os.chdir(sys.argv[1])
warnings.simplefilter('ignore')


class Net(torch.nn.Module):
    def __init__(self, bias=0.0):
        super().__init__()
        self.fc = torch.nn.Linear(3, 4)
        torch.nn.init.ones_(self.fc.weight); torch.nn.init.constant_(self.fc.bias, bias)
        self.low = torch.nn.Parameter(torch.ones(5).half())
        self.register_buffer('index', torch.arange(6))
        self.register_buffer('flag', torch.tensor([True, False]))
        self.register_buffer('slice', torch.arange(100.)[10:20])
        self.register_buffer('none', torch.zeros(0, 3))
        self.register_buffer('quantized', torch.quantize_per_tensor(torch.ones(4), 0.1, 0, torch.quint8))

    def forward(self, x):
        if x.sum() > 0:
            return self.fc(x) + torch.tensor([1., 2., 3., 4.])
        return self.fc(x)


class Holder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.x = torch.ones(2, 3)


torch.jit.script(Net()).save('script.ts')
torch.jit.script(Net()).save('renamed.pt')
torch.jit.script(Net(bias=1.0)).save('other_weights.ts')
torch.jit.trace(Net(), torch.ones(2, 3)).save('trace.ts')
torch.jit.script(Holder()).save('holder.ts')
torch.save(Net().state_dict(), 'weights.pt')
torch.save(Net().state_dict(), 'legacy.pt', _use_new_zipfile_serialization=False)

#!/usr/bin/env python3
"""Says in numpy alone what autocast does to this demo, and that keeping the cure of demo.json in FP32 undoes it.

Exit 1 when what it finds depends on the width of the sums, comes near a limit, or is not what demo.json says.
"""
import os

from network import forward, replay

if __name__ == "__main__":
    replay.check(os.path.dirname(os.path.abspath(__file__)), forward)

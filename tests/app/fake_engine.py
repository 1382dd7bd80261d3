#!/usr/bin/env python3
"""An engine that fails in the way that $FAKE_ENGINE names, and speaks the protocol of core/protocol/PROTOCOL.md else."""
import json
import os
import signal
import sys
import time

MODE = os.environ.get("FAKE_ENGINE", "ok")


def say(number, **message):
    sys.stdout.write(json.dumps({"id": number, **message}) + "\n")
    sys.stdout.flush()


def progress(number, stage, done):
    say(number, progress={"stage": stage, "module": "encoder.0", "op": "aten::linear", "done": done, "total": 256})


def hello(number):
    if MODE == "silent":
        time.sleep(600)
    if MODE == "exit_at_start":
        sys.stderr.write("error while loading shared libraries: libtorch.so\n")
        sys.exit(127)
    version = 99 if MODE == "other_protocol" else 1
    say(number, result={"protocol": version, "libtorch": "1.13.0", "policy_tables": ["cuda@1.13"], "threads": 2,
                        "blas": "openblas"})


def wait_for_cancel(number):
    for line in sys.stdin:
        request = json.loads(line)
        if request["method"] == "cancel":
            assert request["params"] == {"run": number}, request
            say(request["id"], result={})
            say(number, error={"code": "cancelled", "what": "cancelled by the user", "which": "m.ts", "do": ""})
            return


def run(number, params):
    with open(os.environ.get("FAKE_REQUEST", os.devnull), "w") as copy:
        json.dump(params, copy)
    progress(number, "loading", 0)
    progress(number, "running", 32)
    if MODE == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif MODE == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif MODE == "exit":
        sys.exit(3)
    elif MODE == "garbage":
        print("Segmentation fault, probably", flush=True)
        time.sleep(600)
    elif MODE == "long_line":
        sys.stdout.write("x" * (65 << 20))
        sys.stdout.flush()
        time.sleep(600)
    elif MODE == "odd_result":
        say(number, result={"session": 7})
    elif MODE == "cancel":
        wait_for_cancel(number)
    elif MODE == "hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    elif MODE == "prints":
        sys.stderr.write("a line that the model prints\n")
        sys.stderr.flush()
        say(number, result={"session": os.environ["FAKE_SESSION"], "run_id": "run_0001"})
    elif MODE.startswith("error:"):
        say(number, error={"code": MODE[6:], "what": "is not good", "which": "m.ts", "do": "take another"})
    else:
        say(number, result={"session": os.environ["FAKE_SESSION"], "run_id": os.environ.get("FAKE_RUN", "run_0001"),
                            "new_session": params["append"]})


def store_after_cancel(number):
    """Takes a while to store what it did, as a training does; tells when it was asked."""
    for line in sys.stdin:
        request = json.loads(line)
        if request["method"] == "cancel":
            say(request["id"], result={})
            sys.stderr.write("cancel heard\n")
            sys.stderr.flush()
            time.sleep(0.3)
            say(number, error={"code": "run", "what": "was stored after the cancel", "which": "r.json", "do": ""})
            return


def train(number):
    progress(number, "loading", 0)
    say(number, progress={"stage": "training recipe", "done": 32, "total": 256})
    if MODE == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif MODE == "cancel":
        store_after_cancel(number)
    else:
        time.sleep(600)


def inspect(number):
    if MODE == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if MODE.startswith("error:"):
        say(number, error={"code": MODE[6:], "what": "is not good", "which": "m.ts", "do": "take another"})
        return
    modules = [{"path": "", "type": "Net", "aliases": [], "parameters": 0},
               {"path": "block", "type": "Sequential", "aliases": [], "parameters": 0},
               {"path": "block.0", "type": "Linear", "aliases": ["head"], "parameters": 6}]
    model = {"path": "/models/m.ts", "code_sha256": "c0de" * 16, "weights_sha256": "3e19" * 16, "modules": modules,
             "arguments": [{"name": "x", "type": "Tensor", "has_default": False},
                           {"name": "mask", "type": "Optional[Tensor]", "has_default": True}],
             "warnings": ["stored in float16: not pure FP32"]}
    ops = [{"module": "block.0", "op": "aten::linear", "overload": "", "source": "net.py:7", "class": "lower_precision_fp",
            "kernel": "composite", "autocast_kernel": True, "other_tables": {"cuda@2.6": "lower_precision_fp"}},
           {"module": "", "op": "aten::add", "overload": "Tensor", "source": "net.py:9", "class": "promote", "kernel": "none", "autocast_kernel": False,
            "other_tables": {"cuda@2.6": "none"}},
           {"module": "block.0", "op": "mine::scale", "overload": "", "source": "net.py:8", "class": "none", "kernel": "generic", "autocast_kernel": False,
            "other_tables": {"cuda@2.6": "none"}}]
    target = {"device": "cuda", "libtorch": "1.13.1", "kernels_in_this_build": False, "device_present": False}
    say(number, result={"model": model, "ops": ops, "policy_table": "cuda@1.13", "warnings": [], "target": target})


def main():
    assert sys.argv[1:] == ["worker"], sys.argv
    for line in sys.stdin:
        request = json.loads(line)
        number, method = request["id"], request["method"]
        if method == "hello":
            hello(number)
        elif method == "run":
            run(number, request["params"])
        elif method == "train":
            train(number)
        elif method == "inspect":
            inspect(number)
        elif method == "shutdown":
            if MODE == "no_shutdown":
                time.sleep(600)
            say(number, result={})
            return


main()

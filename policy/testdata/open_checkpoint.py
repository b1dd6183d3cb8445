"""Open a checkpoint in PyTorch and print the logits of given plans.

Usage: open_checkpoint.py WEIGHTS POOL < episodes.json > logits.json

episodes.json has contexts (all of one length), stages and plans, one row for
each sample. The modules below are PyTorch's own; the weights go into them by
their names in the file.
"""
import json
import struct
import sys

import torch


def read_safetensors(path):
    """8 bytes of length, a JSON header, then the tensors' bytes."""
    with open(path, "rb") as f:
        (length,) = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(length))
        content = f.read()
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        assert entry["dtype"] == "F32", entry
        begin, end = entry["data_offsets"]
        values = torch.frombuffer(bytearray(content[begin:end]), dtype=torch.float32)
        tensors[name] = values.reshape(entry["shape"])
    return tensors


def build(tensors, pool):
    vocabulary, d = tensors["emb.weight"].shape
    net = torch.nn.Module()
    net.emb = torch.nn.Embedding(vocabulary, d)
    net.stage_emb = torch.nn.Embedding(tensors["stage_emb.weight"].shape[0], d)
    net.rnn = torch.nn.GRU(d, d, batch_first=True)
    net.pi = torch.nn.Linear(d, vocabulary)
    net.v = torch.nn.Linear(d, 1)
    if pool == "ordered":
        net.ctx = torch.nn.GRU(d, d, batch_first=True)
    net.load_state_dict(tensors)  # strict: no name missing, none left over
    return net


def logits(net, pool, episodes):
    context = net.emb(torch.tensor(episodes["contexts"]))
    if pool == "ordered":
        _, last = net.ctx(context)
        pooled = last[0]
    else:
        pooled = context.mean(1)
        if pool == "batch":
            pooled = pooled.mean(0, keepdim=True).expand_as(pooled)
    h0 = torch.tanh(pooled + net.stage_emb(torch.tensor(episodes["stages"])))
    plans = torch.tensor(episodes["plans"])
    start = torch.full_like(plans[:, :1], 10)
    inputs = torch.cat([start, plans[:, :-1]], 1)
    states, _ = net.rnn(net.emb(inputs), h0.unsqueeze(0))
    return net.pi(states)


if __name__ == "__main__":
    weights, pool = sys.argv[1:]
    with torch.no_grad():
        net = build(read_safetensors(weights), pool)
        json.dump(logits(net, pool, json.load(sys.stdin)).tolist(), sys.stdout)

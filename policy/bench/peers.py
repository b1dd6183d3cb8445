"""The documented update in PyTorch, on one thread, timed by its caller.

Usage: peers.py lean|published

Each line on standard input is a number of updates; each answer is a line of
two numbers, the seconds of CPU and of wall clock they took. Both peers do what
the Go program does: draw tasks of stage 0, sample 6 tokens for each of 192,
play them on the documented machine, backward, clip, Adam.

lean is PyTorch at its best for this: one forward pass, which samples as it
goes; the input-to-hidden product once for each entry of the vocabulary; the
machine in whole-batch tensor operations.

published is written as tutorials are: nn.GRU called step by step, Categorical
for sampling, log-probability and entropy, and a Python object for each episode.
"""
import sys
import time

import torch
from torch import nn

BATCH, STEPS, WIDTH, VOCABULARY, STAGES, CTX = 192, 6, 96, 18, 3, 10
MUL, ADD, SUB, ANS, STO, RCL = range(11, 17)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCABULARY, WIDTH)
        self.stage_emb = nn.Embedding(STAGES, WIDTH)
        self.rnn = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.pi = nn.Linear(WIDTH, VOCABULARY)
        self.v = nn.Linear(WIDTH, 1)

    def first(self, context, stage):
        pooled = self.emb(context).mean((0, 1))
        return torch.tanh(pooled + self.stage_emb(stage))


def draw():
    operands = torch.randint(0, 10, (BATCH, 5))
    context = torch.cat([operands[:, :3], torch.full((BATCH, 1), CTX)], 1)
    return operands, context


# lean

def play(operands, plans):
    """The documented machine at stage 0, for all episodes at once."""
    a, b, c = operands[:, 0], operands[:, 1], operands[:, 2]
    goal0, goal1 = a * b, a * b + c
    last = torch.zeros_like(a)
    known = torch.zeros_like(a, dtype=torch.bool)
    stored, done = known.clone(), known.clone()
    reward = torch.zeros(BATCH)
    for token in plans.unbind(1):
        multiply, add, recall = token == MUL, token == ADD, token == RCL
        answer = (token == ANS) & ~done & known
        hit0, hit1 = (last == goal0).float(), (last == goal1).float()
        reward = torch.where(answer, hit0 + 0.2 * (0.25 * hit0 + 0.5 * hit1), reward)
        last = torch.where(multiply & ~known, goal0, last)
        last = torch.where(add & known, last + c, last)
        known = known | multiply | (recall & stored)
        stored = stored | (token == STO)
        done = done | (token == ANS)
    return reward


def lean(net, optimizer):
    operands, context = draw()
    rnn = net.rnn
    h = net.first(context, torch.zeros(BATCH, dtype=torch.long))
    table = net.emb.weight @ rnn.weight_ih_l0.t() + rnn.bias_ih_l0
    token = torch.full((BATCH,), CTX)
    states, plan = [], []
    for _ in range(STEPS):
        into = table[token]
        back = torch.addmm(rnn.bias_hh_l0, h, rnn.weight_hh_l0.t())
        gates = torch.sigmoid(into[:, : 2 * WIDTH] + back[:, : 2 * WIDTH])
        r, z = gates[:, :WIDTH], gates[:, WIDTH:]
        n = torch.tanh(into[:, 2 * WIDTH:] + r * back[:, 2 * WIDTH:])
        h = n + z * (h - n)
        with torch.no_grad():
            token = torch.multinomial(torch.softmax(net.pi(h), 1), 1)[:, 0]
        states.append(h)
        plan.append(token)
    states, plans = torch.stack(states, 1), torch.stack(plan, 1)
    reward = play(operands, plans)
    logs = torch.log_softmax(net.pi(states), 2)
    logp = logs.gather(2, plans[:, :, None])[:, :, 0].sum(1)
    p = logs.exp()
    entropy = -(p * torch.log(p + 1e-9)).sum(2).mean()
    value = net.v(states)[:, :, 0].sum(1)
    advantage = reward - value.detach()
    loss = -(logp * advantage).mean() + 0.5 * ((value - reward) ** 2).mean() - 0.01 * entropy
    step(net, optimizer, loss)


# published

class Episode:
    def __init__(self, operands):
        self.a, self.b, self.c = operands[:3]
        self.last, self.stored, self.done = None, False, False

    def step(self, token):
        if self.done:
            return 0.0
        goal0, goal1 = self.a * self.b, self.a * self.b + self.c
        if token == MUL and self.last is None:
            self.last = goal0
        elif token == ADD and self.last is not None:
            self.last += self.c
        elif token == STO:
            self.stored = True
        elif token == RCL and self.stored and self.last is None:
            self.last = 0
        elif token == ANS:
            self.done = True
            hit0, hit1 = float(self.last == goal0), float(self.last == goal1)
            return hit0 + 0.2 * (0.25 * hit0 + 0.5 * hit1)
        return 0.0


def published(net, optimizer):
    operands, context = draw()
    episodes = [Episode(row) for row in operands.tolist()]
    h = net.first(context, torch.zeros(BATCH, dtype=torch.long))[None]
    x = net.emb(torch.full((BATCH, 1), CTX))
    reward = torch.zeros(BATCH)
    logps, entropies, values = [], [], []
    for _ in range(STEPS):
        out, h = net.rnn(x, h)
        logits, value = net.pi(out[:, -1]), net.v(out[:, -1])[:, 0]
        distribution = torch.distributions.Categorical(logits=logits)
        action = distribution.sample()
        logps.append(distribution.log_prob(action))
        p = torch.softmax(logits, -1)
        entropies.append(-(p * torch.log(p + 1e-9)).sum(-1))
        values.append(value)
        for i, episode in enumerate(episodes):
            reward[i] += episode.step(int(action[i]))
        x = net.emb(action)[:, None]
    value = torch.stack(values, 1).sum(1)
    advantage = reward - value.detach()
    loss = (
        -(torch.stack(logps, 1).sum(1) * advantage).mean()
        + 0.5 * ((value - reward) ** 2).mean()
        - 0.01 * torch.stack(entropies, 1).mean()
    )
    step(net, optimizer, loss)


def step(net, optimizer, loss):
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()


def main():
    update = {"lean": lean, "published": published}[sys.argv[1]]
    torch.set_num_threads(1)
    torch.manual_seed(0)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-4)
    for line in sys.stdin:
        cpu, wall = time.process_time(), time.perf_counter()
        for _ in range(int(line)):
            update(net, optimizer)
        print(time.process_time() - cpu, time.perf_counter() - wall, flush=True)


if __name__ == "__main__":
    main()

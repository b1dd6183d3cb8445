"""The documented rules in plain Python, timed: prints steps a second.

It is the peer of BenchmarkDocumentedStep, which runs it beside itself: the
same operands, the same plan of six tokens over and over.
"""
import time

MUL, ADD, SUB, ANS, STO, RCL = range(11, 17)
PAID = (
    ((0, 0.25), (1, 0.5)),
    ((0, 0.25), (1, 0.5), (2, 0.75)),
    ((0, 0.2), (1, 0.4), (4, 0.6), (3, 0.6)),
)


class Machine:
    def __init__(self, stage, operands):
        a, b, c, d, e = operands
        self.stage, self.operands = stage, operands
        self.goals = (a * b, a * b + c, a * b + c - d, d * e, a * b + c - d * e)
        self.reset()

    def reset(self):
        self.last, self.stored, self.steps, self.done = None, False, 0, False

    def step(self, token):
        if self.done:
            return 0.0, True
        a, b, c, d, e = self.operands
        reward = 0.0
        self.steps += 1
        if token == MUL:
            if self.last is None:
                self.last = a * b
            elif self.stage > 0:
                self.last *= d
        elif token == ADD:
            if self.last is not None:
                self.last += c
        elif token == SUB:
            if self.last is not None and self.stage > 0:
                self.last -= e if self.stage == 2 and self.stored else d
        elif token == STO:
            self.stored = True
        elif token == RCL:
            if self.stored:
                self.last = d * e if self.stage == 2 else self.last or 0
        elif token == ANS:
            self.done = True
            shaped = sum(pay for goal, pay in PAID[self.stage] if self.last == self.goals[goal])
            reward = (1.0 if self.last == self.goals[self.stage] else 0.0) + 0.2 * shaped
        self.done = self.done or self.steps == 7
        return reward, self.done


def main():
    machine = Machine(2, (4, 2, 7, 3, 5))
    plan = (MUL, ADD, STO, RCL, SUB, ANS)
    episodes = 100_000
    start = time.perf_counter()
    for _ in range(episodes):
        machine.reset()
        for token in plan:
            machine.step(token)
    print(episodes * len(plan) / (time.perf_counter() - start))


main()

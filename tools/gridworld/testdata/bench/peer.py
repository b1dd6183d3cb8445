"""The sound rules of level 0 in plain Python, timed: prints steps a second.

It is the peer of BenchmarkSoundStep, which runs it beside itself: the shortest
path, over and over.
"""
import time

SIZE, KEY, DOOR, GOAL = 5, (2, 2), (3, 3), (4, 4)
MOVES = {0: (0, 1), 1: (0, -1), 2: (-1, 0), 3: (1, 0)}
PICKUP, OPEN = 4, 5


class World:
    def __init__(self, boxes=()):
        self.boxes = frozenset(boxes)
        self.reset()

    def reset(self):
        self.x = self.y = self.steps = 0
        self.key = self.open = self.done = False

    def step(self, action):
        if self.done:
            return 0.0, True
        self.steps += 1
        reward = -0.1
        move = MOVES.get(action)
        if move is not None:
            x, y = self.x + move[0], self.y + move[1]
            if 0 <= x < SIZE and 0 <= y < SIZE and (x, y) not in self.boxes:
                self.x, self.y = x, y
                if self.open and (x, y) == GOAL:
                    reward, self.done = 10.0, True
        elif action == PICKUP:
            if not self.key and (self.x, self.y) == KEY:
                self.key, reward = True, 1.0
        elif action == OPEN:
            if self.key and not self.open and (self.x, self.y) == DOOR:
                self.open, reward = True, 2.0
        self.done = self.done or self.steps == 50
        return reward, self.done


def main():
    world = World()
    plan = (0, 0, 3, 3, PICKUP, 0, 3, OPEN, 0, 3)
    episodes = 60_000
    start = time.perf_counter()
    for _ in range(episodes):
        world.reset()
        for action in plan:
            world.step(action)
    seconds = time.perf_counter() - start
    assert world.done and world.steps == 10
    print(episodes * len(plan) / seconds)


main()

"""Stands in for TRL: GRPOConfig with exactly the arguments of a release, and a GRPOTrainer that
calls the reward function as that release does. The tests of package api say what to play.

STANDIN_TRL       the release, such as 0.14.0
STANDIN_ARGUMENTS the file of GRPOConfig's arguments, a line each, with a default where it matters
STANDIN_PLAY      a JSON file: {"chat": bool, "completions": [...]}, completions of each prompt in turn
STANDIN_REPORT    the JSON file that train() writes
"""

import ast
import dataclasses
import json
import os

from transformers import CUT, SPECIAL

__version__ = os.environ["STANDIN_TRL"]
NEWER = int(__version__.split(".")[0]) >= 1


def _fields():
    with open(os.environ["STANDIN_ARGUMENTS"], encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                name, _, default = line.strip().partition("=")
                yield name, object, ast.literal_eval(default) if default else None


GRPOConfig = dataclasses.make_dataclass("GRPOConfig", _fields())


class GRPOTrainer:
    def __init__(self, model, reward_funcs, args, train_dataset, processing_class, peft_config=None):
        given = {name: value for name, value in dataclasses.asdict(args).items() if value is not None}
        self.reward, self.tokenizer, self.rows = reward_funcs, processing_class, train_dataset.rows
        self.report = {
            "model": model, "arguments": given, "lora": peft_config and peft_config.arguments,
            "rows": self.rows, "reward_name": reward_funcs.__name__,
            "padding_side": processing_class.padding_side, "pad_token": processing_class.pad_token,
        }

    def train(self):
        with open(os.environ["STANDIN_PLAY"], encoding="utf-8") as file:
            play = json.load(file)
        completions, rows = play["completions"], []
        each = len(completions) // len(self.rows)
        for row in self.rows:
            rows += [row] * each
        prompts = [row["prompt"] for row in rows]
        columns = {name: [row[name] for row in rows] for name in rows[0] if name != "prompt"}
        logged = {}
        if NEWER:
            columns["completion_ids"] = [self._ids(c) for c in completions]
            columns["trainer_state"], columns["log_extra"] = object(), lambda column, values: None
            columns["log_metric"] = logged.setdefault
        read = [c if isinstance(c, list) else "".join(x for x in c if x not in SPECIAL and x != CUT) for c in completions]
        if play["chat"]:
            prompts = [[{"role": "user", "content": prompt}] for prompt in prompts]
            read = [c if isinstance(c, list) else [{"role": "assistant", "content": c}] for c in read]
        self.report["rewards"] = self.reward(prompts=prompts, completions=read, **columns)
        self.report["logged"] = logged
        self.log({"loss": 0.5}, 1.0)

    def _ids(self, completion):
        text = completion if isinstance(completion, str) else json.dumps(completion)
        if text.endswith(CUT):
            return self.tokenizer.encode(text[:-1], add_special_tokens=False)
        return self.tokenizer.encode(text, add_special_tokens=False) + [self.tokenizer.eos_token_id]

    def log(self, logs, start_time=None):
        self.report["logged"].update(logs)

    def save_model(self, folder):
        self.report["saved"] = folder
        with open(os.environ["STANDIN_REPORT"], "w", encoding="utf-8") as file:
            json.dump(self.report, file)


if NEWER:
    GRPOTrainer._tokenize_prompts = lambda self, prompts: None

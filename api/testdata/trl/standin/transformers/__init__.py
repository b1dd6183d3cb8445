"""Stands in for transformers: a tokenizer whose tokens are characters, SPECIAL ones among them."""

import json
import os

# What a special token looks like in a text: one character each.
SPECIAL = {"\ue000": "<s>", "\ue001": "</s>", "\ue002": "[TOOL_CALLS]"}

# Stands at the end of what the model did not end.
CUT = "\ue003"


class AutoTokenizer:
    bos_token, bos_token_id = "<s>", 0xE000
    eos_token, eos_token_id = "</s>", 0xE001
    pad_token = None

    @classmethod
    def from_pretrained(cls, name, padding_side):
        self = cls()
        self.name, self.padding_side = name, padding_side
        return self

    def apply_chat_template(self, messages, tools, add_generation_prompt, tokenize):
        assert add_generation_prompt and not tokenize
        shown = "" if os.environ.get("STANDIN_HIDES_TOOLS") else json.dumps(tools)
        return f"<s>{shown}\n" + "\n".join(f"{m['role']}: {m['content']}" for m in messages) + "\nassistant: "

    def encode(self, text, add_special_tokens):
        assert not add_special_tokens
        return [ord(letter) for letter in text]

    def __call__(self, text):
        ids = [self.bos_token_id] if text.startswith("<s>") else []
        return {"input_ids": [self.bos_token_id, *ids, *map(ord, text[3 * len(ids):])]}

    def decode(self, ids, skip_special_tokens):
        letters = [chr(token) for token in ids]
        if skip_special_tokens:
            return "".join(letter for letter in letters if letter not in SPECIAL)
        return "".join(SPECIAL.get(letter, letter) for letter in letters)

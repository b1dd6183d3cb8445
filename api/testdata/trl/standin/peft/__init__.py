"""Stands in for peft."""


class LoraConfig:
    def __init__(self, *, task_type, r, lora_alpha, lora_dropout, target_modules):
        self.arguments = {"task_type": task_type, "r": r, "lora_alpha": lora_alpha, "lora_dropout": lora_dropout, "target_modules": target_modules}

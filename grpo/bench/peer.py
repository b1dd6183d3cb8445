"""A plain reward function, timed by its caller.

Each line on standard input is a JSON list of texts; each answer is a line of
two numbers, the seconds of CPU they took and the sum of the rewards.
"""
import json
import re
import sys
import time

import jsonschema

CALL = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.DOTALL)
THINK = re.compile(r"<think>.*?</think>", re.DOTALL)


def compiled(tools):
    """Validators by the names of the tools."""
    functions = [tool["function"] for tool in tools]
    return {f["name"]: jsonschema.Draft202012Validator(f["parameters"]) for f in functions}


def reward(text, validators, expected):
    """Format 1, schema 1.5, completion 3, length -0.05."""
    text = THINK.sub("", text)
    calls, well_formed = [], True
    for payload in CALL.findall(text):
        try:
            calls.append(json.loads(payload))
        except ValueError:
            well_formed = False
    valid = 0
    for call in calls:
        validator = validators.get(call.get("name"))
        if validator is not None and validator.is_valid(call.get("arguments")):
            valid += 1
    complete = len(calls) == len(expected) and all(
        call.get("name") == want["name"] and call.get("arguments") == want["arguments"]
        for call, want in zip(calls, expected)
    )
    schema = valid / len(calls) if calls else 0.0
    return 1.0 * well_formed + 1.5 * schema + 3.0 * (complete and valid == len(calls)) - 0.05


def main():
    validators = compiled(json.loads(sys.argv[1]))
    expected = json.loads(sys.argv[2])
    for line in sys.stdin:
        texts = json.loads(line)
        start = time.process_time()
        total = sum(reward(text, validators, expected) for text in texts)
        print(time.process_time() - start, total, flush=True)


main()

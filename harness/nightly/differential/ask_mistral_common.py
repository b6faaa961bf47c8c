"""Validates histories with mistral-common, Mistral's own validator.

Usage: ask_mistral_common.py HISTORIES VERDICTS

Each line of HISTORIES is a request body. Each line of VERDICTS has, for every version of the tokenizer, null if the
validator accepts the body in serving mode, or else the class, message and kind of its exception. Exceptions of the same kind
report the same problem, possibly with different values.
"""

import json
import re
import sys

from mistral_common.exceptions import MistralCommonException
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import ValidationMode, get_validator
from mistral_common.tokens.tokenizers.base import TokenizerVersion
from pydantic import ValidationError

VERSIONS = ["v3", "v7", "v11", "v13"]


def kind(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return re.sub(r" in \w+ message: .*| at indexes .*", "", getattr(error, "message", None) or str(error))
    found = error.errors()
    # For a field that can be a string or a list, the error that it is not a string is not informative.
    telling = [one for one in found if one["loc"][-1] != "str"] or found
    if telling[0]["type"] == "value_error":
        return re.sub(r"Value error, \w+Chunk (.*) in \w+ message\.", r"chunk \1 in this role", telling[0]["msg"])
    fields = [step for step in telling[0]["loc"] if isinstance(step, str) and "[" not in step]
    return f"{fields[-1]}: {telling[0]['type']}"


def verdict(version: str, body: dict) -> dict | None:
    validator = get_validator(TokenizerVersion(version), ValidationMode.serving)
    try:
        validator.validate_request(ChatCompletionRequest.model_validate(body))
    except (ValidationError, MistralCommonException, ValueError) as error:
        message = getattr(error, "message", None) or str(error)
        return {"class": type(error).__name__, "message": message, "kind": kind(error)}
    return None


def main(histories: str, verdicts: str) -> None:
    with open(histories, encoding="utf-8") as bodies, open(verdicts, "w", encoding="utf-8") as out:
        for line in bodies:
            body = json.loads(line)
            found = {version: verdict(version, body) for version in VERSIONS}
            out.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

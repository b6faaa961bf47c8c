"""Asks mistral-common, Mistral's own validator, about histories.

Usage: ask_mistral_common.py HISTORIES VERDICTS

Each line of HISTORIES is a request body. Each line of VERDICTS has, for every version of the tokenizer, null if the
validator accepts the body when it serves, else the class, the message and the kind of its exception. Exceptions of one kind
are about the same thing, whatever values they name.
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
    # Of a field that is a text or a list, that it is no text says nothing.
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
            said = {version: verdict(version, body) for version in VERSIONS}
            out.write(json.dumps(said) + "\n")


main(*sys.argv[1:])

"""Asks mistral-common, Mistral's own validator, about histories.

Usage: ask_mistral_common.py HISTORIES VERDICTS

Each line of HISTORIES is a request body. Each line of VERDICTS has, for every version of the tokenizer, null if the
validator accepts the body when it serves, else the class and the message of its exception.
"""

import json
import sys

from mistral_common.exceptions import MistralCommonException
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import ValidationMode, get_validator
from mistral_common.tokens.tokenizers.base import TokenizerVersion
from pydantic import ValidationError

VERSIONS = ["v3", "v7", "v11", "v13"]


def verdict(version: str, body: dict) -> dict | None:
    validator = get_validator(TokenizerVersion(version), ValidationMode.serving)
    try:
        validator.validate_request(ChatCompletionRequest.model_validate(body))
    except (ValidationError, MistralCommonException) as error:
        message = getattr(error, "message", None) or str(error)
        return {"class": type(error).__name__, "message": message}
    return None


def main(histories: str, verdicts: str) -> None:
    with open(histories, encoding="utf-8") as bodies, open(verdicts, "w", encoding="utf-8") as out:
        for line in bodies:
            body = json.loads(line)
            said = {version: verdict(version, body) for version in VERSIONS}
            out.write(json.dumps(said) + "\n")


main(*sys.argv[1:])

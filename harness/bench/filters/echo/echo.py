"""The floor of a driver in Python: one line in is one question, one line out the request in it."""

import json
import sys

for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"id": asked["id"], "request": asked["request"]}), flush=True)

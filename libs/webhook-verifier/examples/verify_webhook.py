import hashlib
import hmac
import json
import re
import time


class Refused(Exception):
    """Its argument says which check failed."""


def verify_webhook(headers, body, secrets, now=None, tolerance=300):
    """The event of a genuine, fresh request, else Refused.

    headers: a mapping that does not mind case, such as Flask's or Django's request.headers
    body: the bytes as they came, such as Flask's request.get_data() or Django's request.body
    secrets: the subscription's secret; while it is changed, the new and the old one
    """
    if not secrets or "" in secrets:
        raise ValueError("a secret is missing")
    current = headers.get("X-Service-Signature")
    previous = headers.get("X-Service-Signature-Previous")
    if current is None:
        raise Refused("missing_signature")
    signed_at = None
    for header in [current] if previous is None else [current, previous]:
        match = re.fullmatch(r"t=([0-9]{1,12}),v1=([0-9a-f]{64})", header)
        if match is None:
            raise Refused("malformed_signature")
        signed = match[1].encode() + b"." + body
        for secret in secrets:
            expected = hmac.new(secret.encode("utf-8"), signed, hashlib.sha256).hexdigest()
            if hmac.compare_digest(expected, match[2]):
                signed_at = signed_at or int(match[1])
    if signed_at is None:
        raise Refused("wrong_signature")
    age = (time.time() if now is None else now) - signed_at
    if abs(age) > tolerance:
        raise Refused("too_old" if age > 0 else "too_new")
    try:
        event = json.loads(body.decode("utf-8"))
    except ValueError:
        raise Refused("malformed_body") from None
    texts = ("id", "api_version", "created_at", "event")
    if not isinstance(event, dict) or not isinstance(event.get("data"), dict):
        raise Refused("malformed_body")
    if not all(isinstance(event.get(name), str) for name in texts):
        raise Refused("malformed_body")
    return event


def is_test_event(event):
    """Whether it is a sample that the subscription's owner asked for: nothing has happened."""
    return event["id"].startswith("evt_test_")


def receive(headers, body, secrets, handle):
    """The status to answer with; what handle raises is a 500, and the event is sent again later."""
    try:
        event = verify_webhook(headers, body, secrets)
    except Refused:
        return 400
    if not is_test_event(event):
        handle(event)  # once for each event["id"]: it may come again
    return 204

import hashlib
import hmac
import json
import re
import time


class WebhookVerificationError(Exception):
    """The request failed verification. The argument is the code of the failed check."""


def verify_webhook(headers, body, secrets, now=None, tolerance=300):
    """Return the event of a genuine, fresh request; raise WebhookVerificationError otherwise.

    headers: a case-insensitive mapping, such as Flask's or Django's request.headers
    body: the raw bytes, such as Flask's request.get_data() or Django's request.body
    secrets: the subscription's secret; during a rotation, the new and the old one
    now: UNIX seconds, by default the current time
    tolerance: maximum difference between the time of signing and now, in seconds
    """
    if not secrets or "" in secrets:
        raise ValueError("a secret is missing")
    current = headers.get("X-Service-Signature")
    previous = headers.get("X-Service-Signature-Previous")
    if current is None:
        raise WebhookVerificationError("missing_signature")
    signed_at = None
    for header in [current] if previous is None else [current, previous]:
        match = re.fullmatch(r"t=([0-9]{1,12}),v1=([0-9a-f]{64})", header)
        if match is None:
            raise WebhookVerificationError("malformed_signature")
        signed = match[1].encode() + b"." + body
        for secret in secrets:
            expected = hmac.new(secret.encode("utf-8"), signed, hashlib.sha256).hexdigest()
            if hmac.compare_digest(expected, match[2]):
                signed_at = signed_at or int(match[1])
    if signed_at is None:
        raise WebhookVerificationError("wrong_signature")
    return read_event(body, signed_at, now, tolerance)


def read_event(body, signed_at, now, tolerance):
    """Return the event of a request with a valid signature if it is fresh and complete."""
    age = (time.time() if now is None else now) - signed_at
    if abs(age) > tolerance:
        raise WebhookVerificationError("too_old" if age > 0 else "too_new")
    try:
        event = json.loads(body.decode("utf-8"))
    except ValueError:
        raise WebhookVerificationError("malformed_body") from None
    texts = ("id", "api_version", "created_at", "event")
    if not isinstance(event, dict) or not isinstance(event.get("data"), dict):
        raise WebhookVerificationError("malformed_body")
    if not all(isinstance(event.get(name), str) for name in texts):
        raise WebhookVerificationError("malformed_body")
    return event


def is_test_event(event):
    """Whether the event is a sample that the subscription's owner requested."""
    return event["id"].startswith("evt_test_")


def receive(headers, body, secrets, handle):
    """Return the response status. If handle raises, so does this: respond with 500; the event is retried later."""
    try:
        event = verify_webhook(headers, body, secrets)
    except WebhookVerificationError:
        return 400
    if not is_test_event(event):
        handle(event)  # must be idempotent: may run again for the same event["id"]
    return 204

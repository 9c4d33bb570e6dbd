import base64
import binascii
import re

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from verify_webhook import WebhookVerificationError, read_event


def verify_webhook_v1a(headers, body, keys, now=None, tolerance=300):
    """Do the same as verify_webhook with public keys instead of a secret (pip install cryptography).

    keys: the "keys" of the subscription's JWKS
    now, tolerance: as for verify_webhook, in seconds
    """
    if not keys:
        raise ValueError("a key is missing")
    public_keys = [Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(key["x"] + "=")) for key in keys]
    event_id, timestamp = headers.get("webhook-id"), headers.get("webhook-timestamp")
    values = headers.get("webhook-signature", "").split(" ")
    signatures = [decode(value[4:]) for value in values if value.startswith("v1a,")]
    if event_id is None or timestamp is None or not signatures:
        raise WebhookVerificationError("missing_signature")
    if re.fullmatch(r"[0-9]{1,12}", timestamp) is None or any(len(signature) != 64 for signature in signatures):
        raise WebhookVerificationError("malformed_signature")
    signed = event_id.encode() + b"." + timestamp.encode() + b"." + body
    if not any(is_genuine(key, signature, signed) for key in public_keys for signature in signatures):
        raise WebhookVerificationError("wrong_signature")
    return read_event(body, int(timestamp), now, tolerance)


def is_genuine(key, signature, signed):
    try:
        key.verify(signature, signed)
        return True
    except InvalidSignature:
        return False


def decode(text):
    """Return the bytes of a base64 text; none if it is malformed, so that its length is wrong too."""
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        return b""

<?php

require_once __DIR__ . '/verify-webhook.php';

/**
 * Does the same as verify_webhook() with public keys instead of a secret (extension sodium, part of PHP).
 *
 * @param array<string, string> $headers
 * @param list<array{x: string}> $keys the "keys" of the subscription's JWKS
 * @param int|null $now UNIX seconds, by default the current time
 * @param int $tolerance maximum difference between the time of signing and $now, in seconds
 */
function verify_webhook_v1a(array $headers, string $body, array $keys, ?int $now = null, int $tolerance = 300): stdClass
{
    if ($keys === []) {
        throw new InvalidArgumentException('a key is missing');
    }
    $headers = array_change_key_case($headers);
    $id = $headers['webhook-id'] ?? null;
    $timestamp = $headers['webhook-timestamp'] ?? null;
    $values = explode(' ', $headers['webhook-signature'] ?? '');
    $signatures = array_filter($values, fn (string $value): bool => str_starts_with($value, 'v1a,'));
    if ($id === null || $timestamp === null || $signatures === []) {
        throw new WebhookVerificationError('missing_signature');
    }
    $isGenuine = false;
    foreach ($signatures as $signature) {
        $bytes = base64_decode(substr($signature, 4), true);
        if ($bytes === false || strlen($bytes) !== 64 || preg_match('/\A[0-9]{1,12}\z/', $timestamp) !== 1) {
            throw new WebhookVerificationError('malformed_signature');
        }
        foreach ($keys as ['x' => $x]) {
            $key = sodium_base642bin($x, SODIUM_BASE64_VARIANT_URLSAFE_NO_PADDING);
            $isGenuine = sodium_crypto_sign_verify_detached($bytes, "$id.$timestamp.$body", $key) || $isGenuine;
        }
    }
    if (!$isGenuine) {
        throw new WebhookVerificationError('wrong_signature');
    }
    return read_event($body, (int) $timestamp, $now, $tolerance);
}

<?php

/** The request failed verification. The message is the code of the failed check. */
final class WebhookVerificationError extends RuntimeException
{
}

/**
 * Returns the event of a genuine, fresh request; throws WebhookVerificationError otherwise.
 *
 * @param array<string, string> $headers such as getallheaders()
 * @param string $body the raw bytes: file_get_contents('php://input')
 * @param list<string> $secrets the subscription's secret; during a rotation, the new and the old one
 * @param int|null $now UNIX seconds, by default the current time
 * @param int $tolerance maximum difference between the time of signing and $now, in seconds
 */
function verify_webhook(array $headers, string $body, array $secrets, ?int $now = null, int $tolerance = 300): stdClass
{
    if ($secrets === [] || in_array('', $secrets, true)) {
        throw new InvalidArgumentException('a secret is missing');
    }
    $headers = array_change_key_case($headers);
    $current = $headers['x-service-signature'] ?? throw new WebhookVerificationError('missing_signature');
    $previous = $headers['x-service-signature-previous'] ?? null;
    $signedAt = null;
    foreach ($previous === null ? [$current] : [$current, $previous] as $header) {
        if (preg_match('/\At=([0-9]{1,12}),v1=([0-9a-f]{64})\z/', $header, $match) !== 1) {
            throw new WebhookVerificationError('malformed_signature');
        }
        foreach ($secrets as $secret) {
            if (hash_equals(hash_hmac('sha256', "$match[1].$body", $secret), $match[2])) {
                $signedAt ??= (int) $match[1];
            }
        }
    }
    if ($signedAt === null) {
        throw new WebhookVerificationError('wrong_signature');
    }
    return read_event($body, $signedAt, $now, $tolerance);
}

/** Returns the event of a request with a valid signature if it is fresh and complete. */
function read_event(string $body, int $signedAt, ?int $now, int $tolerance): stdClass
{
    $age = ($now ?? time()) - $signedAt;
    if (abs($age) > $tolerance) {
        throw new WebhookVerificationError($age > 0 ? 'too_old' : 'too_new');
    }
    $event = json_decode($body);
    if (!$event instanceof stdClass || !($event->data ?? null) instanceof stdClass) {
        throw new WebhookVerificationError('malformed_body');
    }
    foreach (['id', 'api_version', 'created_at', 'event'] as $name) {
        if (!is_string($event->$name ?? null)) {
            throw new WebhookVerificationError('malformed_body');
        }
    }
    return $event;
}

/** Whether the event is a sample that the subscription's owner requested. */
function is_test_event(stdClass $event): bool
{
    return str_starts_with($event->id, 'evt_test_');
}

/**
 * Returns the response status. If $handle throws, so does this: respond with 500; the event is retried later.
 *
 * @param array<string, string> $headers
 * @param list<string> $secrets
 * @param callable(stdClass): void $handle
 */
function receive(array $headers, string $body, array $secrets, callable $handle): int
{
    try {
        $event = verify_webhook($headers, $body, $secrets);
    } catch (WebhookVerificationError) {
        return 400;
    }
    if (!is_test_event($event)) {
        $handle($event); // must be idempotent: may run again for the same id
    }
    return 204;
}

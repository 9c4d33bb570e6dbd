<?php

/** Its message says which check failed. */
final class Refused extends RuntimeException
{
}

/**
 * The event of a genuine, fresh request, else Refused.
 *
 * @param array<string, string> $headers such as getallheaders()
 * @param string $body the bytes as they came: file_get_contents('php://input')
 * @param list<string> $secrets the subscription's secret; while it is changed, the new and the old one
 */
function verify_webhook(array $headers, string $body, array $secrets, ?int $now = null, int $tolerance = 300): stdClass
{
    if ($secrets === [] || in_array('', $secrets, true)) {
        throw new InvalidArgumentException('a secret is missing');
    }
    $headers = array_change_key_case($headers);
    $current = $headers['x-service-signature'] ?? throw new Refused('missing_signature');
    $previous = $headers['x-service-signature-previous'] ?? null;
    $signedAt = null;
    foreach ($previous === null ? [$current] : [$current, $previous] as $header) {
        if (preg_match('/\At=([0-9]{1,12}),v1=([0-9a-f]{64})\z/', $header, $match) !== 1) {
            throw new Refused('malformed_signature');
        }
        foreach ($secrets as $secret) {
            if (hash_equals(hash_hmac('sha256', "$match[1].$body", $secret), $match[2])) {
                $signedAt ??= (int) $match[1];
            }
        }
    }
    if ($signedAt === null) {
        throw new Refused('wrong_signature');
    }
    $age = ($now ?? time()) - $signedAt;
    if (abs($age) > $tolerance) {
        throw new Refused($age > 0 ? 'too_old' : 'too_new');
    }
    $event = json_decode($body);
    if (!$event instanceof stdClass || !($event->data ?? null) instanceof stdClass) {
        throw new Refused('malformed_body');
    }
    foreach (['id', 'api_version', 'created_at', 'event'] as $name) {
        if (!is_string($event->$name ?? null)) {
            throw new Refused('malformed_body');
        }
    }
    return $event;
}

/** Whether it is a sample that the subscription's owner asked for: nothing has happened. */
function is_test_event(stdClass $event): bool
{
    return str_starts_with($event->id, 'evt_test_');
}

/**
 * The status to answer with; what $handle throws is a 500, and the event is sent again later.
 *
 * @param array<string, string> $headers
 * @param list<string> $secrets
 * @param callable(stdClass): void $handle
 */
function receive(array $headers, string $body, array $secrets, callable $handle): int
{
    try {
        $event = verify_webhook($headers, $body, $secrets);
    } catch (Refused) {
        return 400;
    }
    if (!is_test_event($event)) {
        $handle($event); // once for each id: it may come again
    }
    return 204;
}

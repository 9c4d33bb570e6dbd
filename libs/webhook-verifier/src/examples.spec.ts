import { execFileSync, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import { webhookApp } from '../examples/express.js';
import { webhookServer } from '../examples/node-http.js';
import type { WebhookEvent } from './index.js';
import { v1a, vectors, vectorsFile } from './vectors.fixture.js';

const example = (name: string): string => fileURLToPath(new URL(`../examples/${name}`, import.meta.url));
/** Python would write a folder of compiled files into the examples. */
const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
const secret = 'whsec_test';
const vectorBody = vectors[0]?.body_base64 ?? '';

/**
 * Programs that run the example of their language and print JSON: its outcome for each vector; then for a
 * real and a test event `[status of a genuine request, status of a forged one, number of handled events]`.
 */
const programs = {
  python3: {
    file: 'verify_webhook.py',
    code: `
import base64, email.message, hmac, importlib.util, json, sys, time
spec = importlib.util.spec_from_file_location("example", sys.argv[1])
example = importlib.util.module_from_spec(spec)
spec.loader.exec_module(example)
def outcome(vector):
    headers = email.message.Message()
    for name, value in vector["headers"].items(): headers[name] = value
    try:
        example.verify_webhook(headers, base64.b64decode(vector["body_base64"]), vector["secrets"], vector["now"])
        return "accepted"
    except example.WebhookVerificationError as rejected: return str(rejected)
def responses(id):
    now, handled, headers = str(int(time.time())), [], email.message.Message()
    body = json.dumps({"id": id, "api_version": "v", "created_at": "c", "event": "e", "data": {}}).encode()
    headers["x-service-signature"] = "t=" + now + ",v1=" + hmac.new(b"s", now.encode() + b"." + body, "sha256").hexdigest()
    return [example.receive(headers, body, ["s"], handled.append), example.receive(headers, body, ["other"], handled.append), len(handled)]
with open(sys.argv[2]) as file: vectors = json.load(file)["vectors"]
print(json.dumps({"outcomes": [outcome(one) for one in vectors], "real": responses("evt_1"), "test": responses("evt_test_1")}))`,
    codeOption: '-c',
  },
  php: {
    file: 'verify-webhook.php',
    code: `
require $argv[1];
$outcome = function (array $vector): string {
    try {
        verify_webhook($vector['headers'], base64_decode($vector['body_base64']), $vector['secrets'], $vector['now']);
        return 'accepted';
    } catch (WebhookVerificationError $rejected) { return $rejected->getMessage(); }
};
$responses = function (string $id): array {
    [$now, $count] = [(string) time(), 0];
    $body = json_encode(['id' => $id, 'api_version' => 'v', 'created_at' => 'c', 'event' => 'e', 'data' => new stdClass()]);
    $headers = ['X-Service-Signature' => "t=$now,v1=" . hash_hmac('sha256', "$now.$body", 's')];
    $handle = function () use (&$count): void { $count++; };
    return [receive($headers, $body, ['s'], $handle), receive($headers, $body, ['other'], $handle), $count];
};
$outcomes = array_map($outcome, json_decode(file_get_contents($argv[2]), true)['vectors']);
echo json_encode(['outcomes' => $outcomes, 'real' => $responses('evt_1'), 'test' => $responses('evt_test_1')]);`,
    codeOption: '-r',
  },
} as const;

/**
 * Programs that run the examples with public keys and print their outcomes for the vectors of `v1a`. The
 * interpreter is the first candidate that succeeds with the arguments `checkLibrary`: it has the library that
 * the example needs.
 */
const asymmetricPrograms = {
  'verify_webhook_v1a.py': {
    candidates: ['python3', '/usr/bin/python3'],
    checkLibrary: ['-c', 'import cryptography'],
    args: [
      '-c',
      `
import base64, email.message, json, sys
sys.path.insert(0, sys.argv[1])
from verify_webhook_v1a import verify_webhook_v1a, WebhookVerificationError
def outcome(vector):
    headers = email.message.Message()
    for name, value in vector["headers"].items(): headers[name] = value
    try:
        verify_webhook_v1a(headers, base64.b64decode(vector["body_base64"]), vector["public_keys"], vector["now"])
        return "accepted"
    except WebhookVerificationError as rejected: return str(rejected)
with open(sys.argv[2]) as file: print(json.dumps([outcome(one) for one in json.load(file)["v1a"]]))`,
    ],
  },
  'verify-webhook-v1a.php': {
    candidates: ['php'],
    checkLibrary: ['-r', 'sodium_crypto_sign_keypair();'],
    args: [
      '-r',
      `
require "$argv[1]/verify-webhook-v1a.php";
$outcome = function (array $vector): string {
    try {
        verify_webhook_v1a($vector['headers'], base64_decode($vector['body_base64']), $vector['public_keys'], $vector['now']);
        return 'accepted';
    } catch (WebhookVerificationError $rejected) { return $rejected->getMessage(); }
};
echo json_encode(array_map($outcome, json_decode(file_get_contents($argv[2]), true)['v1a']));`,
    ],
  },
} as const;

/** Whether the program exists and succeeds with these arguments. */
function isInstalled(program: string, args: readonly string[] = ['--version']): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

// `npm test` installs missing interpreters where it can. Without one, the tests of its examples are skipped.
describe.each(Object.entries(programs))('the example for %s', (program, { file, code, codeOption }) => {
  (isInstalled(program) ? it : it.skip)(
    'returns the outcome of every vector, and handles only genuine events that are not test events',
    () => {
      const output = execFileSync(program, [codeOption, code, example(file), fileURLToPath(vectorsFile)], {
        env,
      });
      expect(JSON.parse(output.toString())).toEqual({
        outcomes: vectors.map(({ outcome }) => outcome),
        real: [204, 400, 1],
        test: [204, 400, 0],
      });
    },
  );
});

describe.each(Object.entries(asymmetricPrograms))(
  'the example %s',
  (_file, { candidates, checkLibrary, args }) => {
    const program = candidates.find((candidate) => isInstalled(candidate, checkLibrary));
    (program === undefined ? it.skip : it)('returns the outcome of every vector of v1a', () => {
      const output = execFileSync(program ?? '', [...args, example('.'), fileURLToPath(vectorsFile)], {
        env,
      });
      expect(JSON.parse(output.toString())).toEqual(v1a.map(({ outcome }) => outcome));
    });
  },
);

describe.each([
  ['node:http', webhookServer],
  ['Express', (...args: Parameters<typeof webhookApp>) => createServer(webhookApp(...args))],
])('the example for %s', (_name, start) => {
  const events: WebhookEvent[] = [];
  const server: Server = start([secret], (event) => {
    events.push(event);
    return event.id === 'evt_bad' ? Promise.reject(new Error('The shop is closed.')) : Promise.resolve();
  });
  const listening = new Promise<string>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/webhooks`);
    });
  });
  beforeEach(() => {
    events.length = 0;
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });

  /** Sends a signed request, `inChunks` without a content-length. Returns the status of the response. */
  async function post(
    body: string,
    { signingSecret = secret, inChunks = false }: { signingSecret?: string; inChunks?: boolean } = {},
  ): Promise<number> {
    const t = Math.floor(Date.now() / 1000);
    const v1 = createHmac('sha256', signingSecret).update(`${t}.${body}`).digest('hex');
    const response = await fetch(await listening, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-service-signature': `t=${t},v1=${v1}` },
      ...(inChunks ? { body: new Blob([body]).stream(), duplex: 'half' } : { body }),
    });
    await response.arrayBuffer();
    return response.status;
  }
  const text = Buffer.from(vectorBody, 'base64').toString();

  it('handles a genuine event, and responds with 204', async () => {
    expect(await post(text)).toBe(204);
    expect(events).toEqual([JSON.parse(text)]);
  });

  it('handles an event with the largest metadata of an order', async () => {
    const event = JSON.parse(text);
    // The limits of metadata: 50 keys of 40 characters, with values of 500.
    const entries = Array.from({ length: 50 }, (_, key) => [`${key}`.padEnd(40, 'k'), '🎸'.repeat(500)]);
    event.data.metadata = Object.fromEntries(entries);
    expect(await post(JSON.stringify(event))).toBe(204);
    expect(events).toEqual([event]);
  });

  it('rejects a forged request with 400, and does not handle it', async () => {
    expect(await post(text, { signingSecret: 'other' })).toBe(400);
    expect(events).toEqual([]);
  });

  it('responds with 204 to an unknown event, and does not handle it', async () => {
    expect(await post(text.replace('order.created', 'order.returned'))).toBe(204);
    expect(events).toEqual([]);
  });

  it('responds with 204 to a test event, and does not handle it', async () => {
    expect(await post(text.replace(/evt_\w+/, 'evt_test_1'))).toBe(204);
    expect(events).toEqual([]);
  });

  it('accepts a chunked body without a content-length', async () => {
    expect(await post(text, { inChunks: true })).toBe(204);
    expect(events).toEqual([JSON.parse(text)]);
  });

  it('responds with 500 when the handler fails, so that the event is retried', async () => {
    expect(await post(text.replace(/evt_\w+/, 'evt_bad'))).toBe(500);
  });

  it('rejects a body larger than any event with 413, with and without a content-length', async () => {
    const tooLarge = ' '.repeat(1_000_001); // the examples accept 1,000,000 bytes
    expect(await post(tooLarge)).toBe(413);
    expect(await post(tooLarge, { inChunks: true })).toBe(413);
  });
});

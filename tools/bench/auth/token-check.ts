import { TokenVerifier } from '@fulfilment/http-service/token-verifier';
import { tokenMaker } from '@fulfilment/testing/token-maker';
import { figure, type Figure } from '../figures.ts';

const newTokenCount = 400;
const cachedCheckCount = 20_000;
const roundCount = 5;

/** Measures, in this process, the processor time in which an API verifies a new and a cached access token. */
export async function measureTokenCheck(): Promise<Figure[]> {
  const maker = await tokenMaker();
  try {
    const newTokenUs: number[] = [];
    const cachedTokenUs: number[] = [];
    for (let round = 0; round <= roundCount; round += 1) {
      const verifier = new TokenVerifier({
        authUrl: maker.authUrl,
        jwksUrl: maker.jwksUrl,
        audience: `${maker.baseUrl}/store`,
      });
      const tokens = await Promise.all(Array.from({ length: newTokenCount }, () => maker.token()));
      await verify(verifier, await maker.token()); // reads the keys
      const newUs = await cpuUsPerCall(newTokenCount, (index) => verify(verifier, tokens[index]));
      const cachedUs = await cpuUsPerCall(cachedCheckCount, (index) =>
        verify(verifier, tokens[index % newTokenCount]),
      );
      if (round === 0) continue; // warms up the code
      newTokenUs.push(newUs);
      cachedTokenUs.push(cachedUs);
    }
    return [
      figure('token check at an API, cached token', cachedTokenUs, 'µs', { atMost: 5 }),
      figure('token check at an API, new token', newTokenUs, 'µs', { atMost: 250 }),
    ];
  } finally {
    await maker.stop();
  }
}

async function verify(verifier: TokenVerifier, token: string | undefined): Promise<void> {
  if (token === undefined || (await verifier.verify(token)) === undefined)
    throw new Error('A valid token was rejected.');
}

async function cpuUsPerCall(times: number, work: (index: number) => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  for (let index = 0; index < times; index += 1) await work(index);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}

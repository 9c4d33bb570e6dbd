import { recordArrival } from '../tokens/reuse/request-arrivals.js';
import { inUnitOfWork } from './in-unit-of-work.js';

describe('the response to a successful token request', () => {
  it.each([
    ['authorization_code', 50],
    ['refresh_token', 5],
  ])('of the grant type %s is committed at the earliest %i ms after its arrival', async (grant_type, ms) => {
    const request = Object({ headers: {} });
    const context = { status: 200, req: request, oidc: { params: { grant_type }, entities: {} } };
    let committedAtMs = 0;
    const unitOfWork = {
      run: async (work: () => Promise<string>) => {
        expect(await work()).toBe('commit');
        committedAtMs = performance.now();
      },
    };
    const arrivedAtMs = performance.now();
    recordArrival(request);
    const run = inUnitOfWork(Object(unitOfWork), Object({}));
    await run(Object(context), () => Promise.resolve());
    expect(committedAtMs - arrivedAtMs).toBeGreaterThan(ms - 2); // clocks and timers are exact to 1 ms
  });
});

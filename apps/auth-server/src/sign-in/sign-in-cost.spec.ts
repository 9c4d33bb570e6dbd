import { type Form, FormBrowser, formOf } from '@fulfilment/testing/form-browser';
import { eventually } from '@fulfilment/testing';
import { setTimeout as delay } from 'node:timers/promises';
import { hashPassword } from '../accounts/passwords.js';
import { App } from '../test/app.fixture.js';
import { password } from '../test/users.fixture.js';
import { server, startServer } from '../test/server.fixture.js';

const samples = 9;
/** Without a hash for an unknown name, a wrong password would need several times as much work. */
const maxRatio = 2.5;
/** Two passwords are hashed and 64 wait for it (passwords.ts): with one more, a sign-in gets 503. */
const queueCapacity = 66;
startServer();
let app: App;
beforeAll(async () => {
  app = await App.register(server);
});

async function signInForm(): Promise<{ browser: FormBrowser; form: Form }> {
  const { url } = await app.request('orders:read');
  const browser = new FormBrowser(server);
  return { browser, form: formOf(await browser.get(url), '/login') };
}

describe('the work of a sign-in', () => {
  it('is similar for an unknown name and for a wrong password (OWASP ASVS 5.0, 6.3.8)', async () => {
    const { browser, form } = await signInForm();
    /** Measures processor time, since the duration also depends on other processes. */
    const workOf = async (email: string): Promise<number> => {
      const before = process.cpuUsage();
      const { status } = await browser.submit(form, { email, password: 'wrong' });
      const { user, system } = process.cpuUsage(before);
      expect(status).toBe(401);
      return user + system;
    };
    let known = 0;
    let unknown = 0;
    for (let sample = 0; sample < samples; sample += 1) {
      known += await workOf('owner@harbour.example');
      unknown += await workOf(`nobody-${sample}@harbour.example`);
    }
    expect(known / unknown).toBeLessThan(maxRatio);
    expect(known / unknown).toBeGreaterThan(1 / maxRatio);
  });
});

describe('a burst of sign-ins', () => {
  it('leaves token requests fast: their median time is below a quarter of the burst', async () => {
    const { tokens } = await app.signIn('offline_access orders:read');
    const { browser, form } = await signInForm();
    const burstStartedAt = performance.now();
    let burstMs: number | undefined;
    const burst = Promise.all(
      Array.from({ length: queueCapacity }, () =>
        browser.submit(form, { email: 'owner@harbour.example', password: 'wrong' }),
      ),
    ).finally(() => {
      burstMs = performance.now() - burstStartedAt;
    });
    let refreshToken = tokens.refresh_token ?? '';
    const times: number[] = [];
    do {
      const startedAt = performance.now();
      refreshToken = (await app.refresh(refreshToken)).refresh_token ?? '';
      times.push(performance.now() - startedAt);
    } while (burstMs === undefined);
    expect((await burst).filter(({ status }) => status !== 401)).toEqual([]);
    expect(median(times)).toBeLessThan(burstMs / 4);
  });

  it('gets 503 with Retry-After while the queue is full', async () => {
    const { browser, form } = await signInForm();
    let isOver = false;
    const fillQueue = async () => {
      while (!isOver) await hashPassword(password).catch(() => delay(5));
    };
    // More than fit, so that the queue stays full.
    const filling = Array.from({ length: queueCapacity + 4 }, fillQueue);
    try {
      const { headers, text } = await eventually(async () => {
        const shown = await browser.submit(form, { email: 'owner@harbour.example', password: 'wrong' });
        return shown.status === 503 ? shown : undefined;
      });
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(headers.get('content-type')).toContain('text/html');
      expect(text).not.toMatch(/\bat .*\.(js|ts):\d+/);
    } finally {
      isOver = true;
      await Promise.all(filling);
    }
  });

  it('leaves no limit behind: the next sign-in succeeds', async () => {
    const { browser, form } = await signInForm();
    const shown = await browser.submit(form, { email: 'owner@meridian.example', password });
    expect(shown.forms.some(({ action }) => action.endsWith('/consent'))).toBe(true);
  });
});

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AuthorizationServer, SignIn, SignInRequest, Tokens } from './oauth.js';

/** Register a native app with this redirect URI; a sign-in uses a free port (RFC 8252 §7.3). */
export const loopbackRedirectUri = 'http://127.0.0.1/callback';

export interface LoopbackSignIn extends Omit<SignInRequest, 'redirectUri'> {
  /** Opens the URL in the person's browser, or prints it. */
  readonly open: (url: string) => void | Promise<void>;
  readonly signal?: AbortSignal;
}

/**
 * Signs a person in from a program in Node: the browser returns to a port of this machine (RFC 8252).
 * @throws oauth4webapi's AuthorizationResponseError if the person declined
 * @throws the signal's reason if the caller aborts
 */
export async function signIn(
  server: AuthorizationServer,
  { open, signal, ...request }: LoopbackSignIn,
): Promise<Tokens> {
  const listener = createServer();
  try {
    const redirectUri = new URL(loopbackRedirectUri);
    redirectUri.port = String(await listen(listener));
    const started = await server.startSignIn({ ...request, redirectUri: redirectUri.href });
    const callback = untilCallback(listener, started, signal);
    callback.catch(() => undefined); // it may reject before it is awaited below
    await open(started.url);
    return await server.finishSignIn(started, await callback);
  } finally {
    listener.close();
    listener.closeAllConnections();
  }
}

function listen(listener: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    listener.once('error', reject).listen(0, '127.0.0.1', () => {
      const address = listener.address();
      if (address === null || typeof address === 'string') reject(new Error('The listener has no port.'));
      else resolve(address.port);
    });
  });
}

/** Returns the URL of the first request with the state of this sign-in. @throws the signal's reason */
function untilCallback(listener: Server, { redirectUri, state }: SignIn, signal?: AbortSignal): Promise<URL> {
  return new Promise((resolve, reject) => {
    signal?.addEventListener('abort', () => reject(reasonOf(signal)), { once: true });
    if (signal?.aborted === true) reject(reasonOf(signal));
    listener.on('request', ({ url = '/' }, response) => {
      // Any page in the browser may send a request to this port, for example with `//`, which is no URL.
      const target = URL.canParse(url, redirectUri) ? new URL(url, redirectUri) : undefined;
      const { pathname } = new URL(redirectUri);
      if (target?.pathname !== pathname || target.searchParams.get('state') !== state)
        return respond(response, 404, 'Not found.');
      respond(response, 200, 'You can close this page.');
      response.once('close', () => resolve(target));
    });
  });
}

function respond(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(text);
}

function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('The sign-in was aborted.');
}

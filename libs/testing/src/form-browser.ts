import { Agent, type Dispatcher, request } from 'undici';

export interface Page {
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface Form {
  readonly action: string;
  readonly method: string;
  /** Names and values of the inputs in the page, including the checked radio buttons. */
  readonly fields: Readonly<Record<string, string>>;
  readonly buttons: readonly { readonly name: string; readonly value: string }[];
}

/** A browser without JavaScript: opens pages, submits forms, follows redirects and stores cookies. */
export class FormBrowser {
  private readonly agent: Agent;
  private readonly cookies = new Map<string, string>();

  constructor(ca?: string) {
    this.agent = new Agent(ca === undefined ? {} : { connect: { ca } });
  }

  /** Opens a URL and follows redirects. @param stopAt prefix of a URL that is returned without opening it */
  open(url: string, stopAt?: string): Promise<Page> {
    return this.follow(url, { method: 'GET' }, stopAt);
  }

  /** Submits a form of the page with these values, and follows redirects. */
  submit(page: Page, form: Form, values: Readonly<Record<string, string>>, stopAt?: string): Promise<Page> {
    const body = new URLSearchParams({ ...form.fields, ...values });
    const action = new URL(form.action, page.url);
    if (form.method === 'get') return this.open(`${action.href}?${body.toString()}`, stopAt);
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      origin: action.origin,
      referer: page.url,
    };
    return this.follow(action.href, { method: 'POST', headers, body: body.toString() }, stopAt);
  }

  close(): Promise<void> {
    return this.agent.close();
  }

  private async follow(
    url: string,
    first: { method: Dispatcher.HttpMethod; headers?: Record<string, string>; body?: string },
    stopAt: string | undefined,
  ): Promise<Page> {
    let next: typeof first = first;
    let at = url;
    for (let hops = 0; hops < 20; hops += 1) {
      const response = await request(at, {
        ...next,
        headers: { accept: 'text/html', ...next.headers, cookie: this.cookieHeader() },
        dispatcher: this.agent,
      });
      this.storeCookies(response.headers['set-cookie']);
      const location = response.headers.location;
      if (typeof location !== 'string') {
        return {
          url: at,
          status: response.statusCode,
          headers: response.headers,
          text: await response.body.text(),
        };
      }
      await response.body.dump();
      at = new URL(location, at).href;
      if (stopAt !== undefined && at.startsWith(stopAt)) {
        return { url: at, status: response.statusCode, headers: response.headers, text: '' };
      }
      next = { method: 'GET' };
    }
    throw new Error(`Too many redirects from ${url}.`);
  }

  private cookieHeader(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  private storeCookies(header: string | string[] | undefined): void {
    for (const line of [header ?? []].flat()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (name === undefined || value === undefined) continue;
      const deleted = value === '' || /expires=Thu, 01 Jan 1970/i.test(line);
      if (deleted) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
  }
}

/** The forms of a page, in order. */
export function formsIn({ text }: Page): Form[] {
  return [...text.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)].map(([, attributes = '', inside = '']) => {
    const { action = '', method = 'get' } = parseAttributes(attributes);
    const fields: Record<string, string> = {};
    for (const [, input = ''] of inside.matchAll(/<input\b([^>]*)>/g)) {
      const { name, value = '', type = 'text', ...rest } = parseAttributes(input);
      const unchosen = (type === 'radio' || type === 'checkbox') && !('checked' in rest);
      if (name !== undefined && !unchosen) fields[name] = value;
    }
    const buttons = [...inside.matchAll(/<button\b([^>]*)>/g)].flatMap(([, button = '']) => {
      const { name, value = '' } = parseAttributes(button);
      return name === undefined ? [] : [{ name, value }];
    });
    return { action, method: method.toLowerCase(), fields, buttons };
  });
}

function parseAttributes(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/([\w-]+)(?:="([^"]*)")?/g)].map(([, name = '', value = '']) => [
      name,
      unescapeHtml(value),
    ]),
  );
}

function unescapeHtml(text: string): string {
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return text.replace(
    /&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi,
    (whole, hex?: string, decimal?: string, name?: string) => {
      if (hex !== undefined) return String.fromCodePoint(parseInt(hex, 16));
      if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
      return named[name ?? ''] ?? whole;
    },
  );
}

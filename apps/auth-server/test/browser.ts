/** The site under test. */
export interface Site {
  readonly url: string;
  readonly fetch: typeof fetch;
}

/** A browser without scripts: keeps cookies by path, follows redirects within one origin, submits forms. */
export class Browser {
  private readonly cookies = new Map<string, { value: string; path: string }>();

  private readonly origin: string;

  constructor(private readonly server: Site) {
    this.origin = server.url;
  }

  async get(url: string): Promise<Shown> {
    return this.follow(url, { method: 'GET' });
  }

  /** Submits a form with its hidden fields. */
  async submit(
    form: Form,
    fields: Readonly<Record<string, string>> = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Shown> {
    const body = new URLSearchParams({ ...form.hidden, ...fields });
    return this.follow(form.action, { method: 'POST', body, headers: { origin: this.origin, ...headers } });
  }

  cookieNames(): string[] {
    return [...this.cookies.keys()];
  }

  cookie(name: string): string | undefined {
    return this.cookies.get(name)?.value;
  }

  private async follow(
    url: string,
    init: { method: string; body?: URLSearchParams; headers?: Readonly<Record<string, string>> },
  ): Promise<Shown> {
    let target = new URL(url, this.origin);
    let request = init;
    for (let hop = 0; hop < 12; hop += 1) {
      if (target.origin !== this.origin)
        return { url: target, status: 0, headers: new Headers(), text: '', forms: [] };
      const response = await this.server.fetch(target, {
        ...request,
        redirect: 'manual',
        headers: { accept: 'text/html', ...request.headers, cookie: this.cookieHeader(target) },
      });
      this.keep(response);
      const location = response.headers.get('location');
      const text = await response.text();
      if (location === null) {
        return {
          url: target,
          status: response.status,
          headers: response.headers,
          text,
          forms: formsOf(text),
        };
      }
      target = new URL(location, target);
      request = { method: 'GET' };
    }
    throw new Error('Too many redirects.');
  }

  /** The cookies for a URL. */
  cookieHeader(target: URL): string {
    return [...this.cookies]
      .filter(([, { path }]) => target.pathname.startsWith(path))
      .map(([name, { value }]) => `${name.split('@')[0]}=${value}`)
      .join('; ');
  }

  private keep(response: Response): void {
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split('; ');
      const [name = '', value = ''] = pair.split(/=(.*)/s);
      const path = attributes.find((text) => /^path=/i.test(text))?.slice(5) ?? '/';
      const key = `${name}@${path}`;
      if (value === '') this.cookies.delete(key);
      else this.cookies.set(key, { value, path });
    }
  }
}

export interface Form {
  readonly action: string;
  readonly hidden: Readonly<Record<string, string>>;
}

export interface Shown {
  /** The final URL; of another origin after a redirect there. */
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly forms: readonly Form[];
}

/** The form whose action has this ending. */
export function formOf(shown: Shown, action: string): Form {
  const form = shown.forms.find((candidate) => candidate.action.endsWith(action));
  if (form === undefined) throw new Error(`No form ${action} at ${shown.url.href} (${shown.status}).`);
  return form;
}

function formsOf(text: string): Form[] {
  return [...text.replace(/\s+/g, ' ').matchAll(/<form[^>]*action="([^"]*)"[^>]*>(.*?)<\/form>/gs)].map(
    ([, action = '', inner = '']) => ({ action, hidden: sentAnyway(inner) }),
  );
}

/** The initial values of a form: hidden fields and preselected options. */
function sentAnyway(form: string): Record<string, string> {
  const inputs = form.matchAll(/<input ?type="(hidden|radio)" name="([^"]*)" value="([^"]*)"([^>]*)>/g);
  return Object.fromEntries(
    [...inputs].flatMap(([, type, name = '', value = '', rest = '']) =>
      type === 'hidden' || rest.includes('checked') ? [[name, value]] : [],
    ),
  );
}

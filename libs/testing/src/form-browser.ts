/** The site under test. */
export interface Site {
  readonly url: string;
  readonly fetch: typeof fetch;
}

export interface Form {
  readonly action: string;
  /** Values that are sent unless a test changes them: hidden fields and preselected options. */
  readonly hidden: Readonly<Record<string, string>>;
}

export interface Page {
  /** The URL after all redirects, which may lead to another origin. */
  readonly url: URL;
  /** 0 for a URL of another origin, which is not requested. */
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly forms: readonly Form[];
}

const maxRedirects = 12;

/** A browser without scripts: keeps cookies by path, follows redirects within one origin, submits forms. */
export class FormBrowser {
  private readonly cookies = new Map<string, { value: string; path: string }>();
  private readonly site: Site;

  constructor(site: Site) {
    this.site = site;
  }

  get(url: string): Promise<Page> {
    return this.follow(url, { method: 'GET' });
  }

  /** Submits a form with the values of `form.hidden`, and with those of `fields`, which take precedence. */
  submit(
    form: Form,
    fields: Readonly<Record<string, string>> = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Page> {
    const body = new URLSearchParams({ ...form.hidden, ...fields });
    return this.follow(form.action, { method: 'POST', body, headers: { origin: this.origin, ...headers } });
  }

  /** Returns the cookies by name and path, such as `session@/`. */
  cookieNames(): string[] {
    return [...this.cookies.keys()];
  }

  /** @param key name and path, such as `session@/` */
  cookie(key: string): string | undefined {
    return this.cookies.get(key)?.value;
  }

  /** Returns the `Cookie` header for a URL. */
  cookieHeader(target: URL): string {
    return [...this.cookies]
      .filter(([, { path }]) => target.pathname.startsWith(path))
      .map(([key, { value }]) => `${key.split('@')[0]}=${value}`)
      .join('; ');
  }

  private get origin(): string {
    return new URL(this.site.url).origin;
  }

  private async follow(
    url: string,
    init: { method: string; body?: URLSearchParams; headers?: Readonly<Record<string, string>> },
  ): Promise<Page> {
    let target = new URL(url, this.origin);
    let request = init;
    for (let redirects = 0; redirects < maxRedirects; redirects += 1) {
      if (target.origin !== this.origin)
        return { url: target, status: 0, headers: new Headers(), text: '', forms: [] };
      const response = await this.site.fetch(target, {
        ...request,
        redirect: 'manual',
        headers: { accept: 'text/html', ...request.headers, cookie: this.cookieHeader(target) },
      });
      this.storeCookies(response);
      const location = response.headers.get('location');
      const text = await response.text();
      if (location === null)
        return {
          url: target,
          status: response.status,
          headers: response.headers,
          text,
          forms: formsIn(text),
        };
      target = new URL(location, target);
      request = { method: 'GET' };
    }
    throw new Error(`Too many redirects from ${url}.`);
  }

  private storeCookies(response: Response): void {
    for (const setCookie of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = setCookie.split('; ');
      const [name = '', value = ''] = pair.split(/=(.*)/s); // at the first =
      const path = attributes.find((text) => /^path=/i.test(text))?.slice('path='.length) ?? '/';
      const key = `${name}@${path}`;
      if (value === '') this.cookies.delete(key);
      else this.cookies.set(key, { value, path });
    }
  }
}

/** Returns the form whose action ends with this text. */
export function formOf(page: Page, actionEnding: string): Form {
  const form = page.forms.find(({ action }) => action.endsWith(actionEnding));
  if (form === undefined)
    throw new Error(`${page.url.href} responded with ${page.status} without a form for ${actionEnding}.`);
  return form;
}

/** Opens an authorization URL, signs in and consents if required. The last page has the code in its URL. */
export async function signInAndConsent(
  browser: FormBrowser,
  url: string,
  user: { readonly email: string; readonly password: string },
  choices: Readonly<Record<string, string>> = {},
): Promise<Page> {
  let page = await browser.get(url);
  for (const [step, fields] of [
    ['/login', { email: user.email, password: user.password }],
    ['/consent', choices],
  ] as const) {
    const form = page.forms.find(({ action }) => action.endsWith(step));
    if (form !== undefined) page = await browser.submit(form, fields);
  }
  return page;
}

function formsIn(text: string): Form[] {
  return [...text.replace(/\s+/g, ' ').matchAll(/<form[^>]*action="([^"]*)"[^>]*>(.*?)<\/form>/gs)].map(
    ([, action = '', inner = '']) => ({ action, hidden: initialValues(inner) }),
  );
}

function initialValues(form: string): Record<string, string> {
  const inputs = form.matchAll(/<input ?type="(hidden|radio)" name="([^"]*)" value="([^"]*)"([^>]*)>/g);
  return Object.fromEntries(
    [...inputs].flatMap(([, type, name = '', value = '', rest = '']) =>
      type === 'hidden' || rest.includes('checked') ? [[name, value]] : [],
    ),
  );
}

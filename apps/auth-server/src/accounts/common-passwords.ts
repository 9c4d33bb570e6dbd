let loading: Promise<ReadonlySet<string>> | undefined;

/**
 * Returns common passwords in lower case, from the lists of zxcvbn. Loads them at the first call, since most
 * processes do not need them.
 */
export function commonPasswords(): Promise<ReadonlySet<string>> {
  loading ??= load();
  return loading;
}

async function load(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common']);
}

import { readFileSync } from 'node:fs';
import { fillTemplate } from '@fulfilment/testing/fill-template';

const template = readFileSync(
  new URL('../../../deploy/gateway/nginx.conf.template', import.meta.url),
  'utf8',
);

describe('fillTemplate', () => {
  it('replaces each placeholder and keeps the variables of nginx', () => {
    expect(fillTemplate('listen ${PORT}; set $host "${PORT}";', { PORT: '1' })).toBe(
      'listen 1; set $host "1";',
    );
  });

  it('rejects a placeholder without a value and a value without a placeholder', () => {
    expect(() => fillTemplate('${MISSING}', {})).toThrow('MISSING');
    expect(() => fillTemplate('', { SPARE: '1' })).toThrow('SPARE');
  });
});

describe('the gateway template', () => {
  it('does not forward address headers of the client', () => {
    for (const header of [
      'X-Forwarded-For $remote_addr',
      'X-Forwarded-Proto https',
      'Host ${GATEWAY_PUBLIC_HOST}',
      'Forwarded ""',
    ]) {
      expect(template).toContain(`proxy_set_header ${header};`);
    }
    expect(template).not.toContain('$proxy_add_x_forwarded_for');
  });

  it('logs neither query strings nor credentials', () => {
    const logFormat = /log_format[^;]+;/.exec(template)?.[0] ?? '';
    expect(logFormat).toContain('$status');
    expect(logFormat).not.toMatch(
      /\$(request|args|query_string|request_uri|http_authorization|http_referer)\b/,
    );
  });
});

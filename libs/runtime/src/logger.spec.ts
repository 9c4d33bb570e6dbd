import { createLogger, nestLogger } from './logger.js';

describe('the logger', () => {
  const lines: string[] = [];
  const logger = createLogger('test', 'trace', { write: (line) => void lines.push(line) });
  const logged = () => lines.splice(0).map((line): unknown => JSON.parse(line));

  it('logs the code, message and causes of an error, and none of its other members', () => {
    const cause = Object.assign(new Error('rejected'), { parameters: ['secret'] });
    const error = Object.assign(new Error('failed', { cause }), { code: '23505', query: 'secret' });
    logger.error({ error }, 'The order was not stored.');
    expect(lines.join()).not.toContain('secret');
    expect(logged()).toMatchObject([
      {
        level: 'error',
        message: 'The order was not stored.',
        error: { type: 'Error', message: 'failed', code: '23505', cause: { message: 'rejected' } },
      },
    ]);
  });

  it('logs what Nest reports: text, an error with its message and stack, but no other value', () => {
    const nest = nestLogger(logger);
    nest.log('Mapped a route.');
    nest.error(new Error('Cannot resolve a dependency.'));
    nest.warn({ password: 'secret' });
    expect(lines.join()).not.toContain('secret');
    expect(logged()).toMatchObject([
      { level: 'debug', message: 'Mapped a route.' },
      { level: 'error', error: { message: 'Cannot resolve a dependency.', stack: expect.any(String) } },
      { level: 'warn', message: 'Nest logged a value that is not text.' },
    ]);
  });
});

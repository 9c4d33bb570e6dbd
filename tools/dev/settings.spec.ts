import { commandFor, readSettings, readSeparateSettings } from './settings.ts';

describe('a command for a suite', () => {
  it.each([
    ['.dev', 'npm stop'],
    ['.dev/second', 'SUITE_DEV_DIR=.dev/second npm stop'],
    ['/srv/suite', 'SUITE_DEV_DIR=/srv/suite npm stop'],
    ["it's mine", "SUITE_DEV_DIR='it'\\''s mine' npm stop"],
  ])('in %s is written as it must be typed', (dir, typed) => {
    expect(commandFor(readSettings({ SUITE_DEV_DIR: dir }).stateDir, 'npm stop')).toBe(typed);
  });
});

describe('settings of npm start', () => {
  it('have a base port with a default, and reject an invalid one', () => {
    expect(readSettings({}).basePort).toBe(8443);
    expect(readSeparateSettings('test', {}).basePort).toBe(18443);
    expect(() => readSettings({ SUITE_BASE_PORT: '80' })).toThrow('SUITE_BASE_PORT');
    expect(() => readSettings({ SUITE_BASE_PORT: '8443x' })).toThrow('SUITE_BASE_PORT');
  });
});

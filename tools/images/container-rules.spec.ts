import { checkRestrictions } from './container-rules.ts';

const restricted = {
  ReadonlyRootfs: true,
  CapDrop: ['ALL'],
  CapAdd: null,
  SecurityOpt: ['no-new-privileges:true'],
  Privileged: false,
};

/** Checks a container that the engine reports with these restrictions. */
function check(hostConfig: object, user = '1000:1000'): Promise<void> {
  const reported = [
    { Name: '/store-api', Config: { User: user }, HostConfig: { ...restricted, ...hostConfig } },
  ];
  return checkRestrictions({ dockerOrThrow: () => Promise.resolve(JSON.stringify(reported)) }, ['1']);
}

describe('checkRestrictions', () => {
  it.each(['no-new-privileges', 'no-new-privileges:true', 'no-new-privileges=true'])(
    'accepts a restricted container with the security option %s',
    async (option) => {
      await expect(check({ SecurityOpt: ['label=disable', option] })).resolves.toBeUndefined();
    },
  );

  it.each([
    ['a read-only root file system', { ReadonlyRootfs: false }],
    ['no capabilities', { CapDrop: null }],
    ['no capabilities', { CapAdd: ['NET_ADMIN'] }],
    ['no new privileges', { SecurityOpt: null }],
    ['no new privileges', { SecurityOpt: ['no-new-privileges:false'] }],
    ['no privileged mode', { Privileged: true }],
  ])('requires %s, not %j', async (rule, hostConfig) => {
    await expect(check(hostConfig)).rejects.toThrow(`The container /store-api must have ${rule}.`);
  });

  it.each(['', 'root', '0:0', '1000'])('rejects the user "%s"', async (user) => {
    await expect(check({}, user)).rejects.toThrow(
      'must have a numeric user and group (uid:gid), both other than root.',
    );
  });
});

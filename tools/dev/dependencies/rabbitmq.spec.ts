import { runProgram } from '../run-program.ts';
import { rabbitmqctlScript } from './rabbitmq.ts';

describe('the script rabbitmqctl of a suite', () => {
  it('passes its arguments and the settings of the node, even a directory with a quote', async () => {
    const node = { HOME: "/it's mine", ERL_EPMD_PORT: '4369', RABBITMQ_NODENAME: 'suite@localhost' };
    const script = rabbitmqctlScript('printenv', node);
    expect(await runProgram('sh', ['-c', script, 'sh', 'HOME'])).toEqual({ code: 0, output: "/it's mine\n" });
  });
});

import { ReceiverProcess } from './receiver-process.ts';

describe('waitForDeliveries', () => {
  it('rejects with the error of the connection when the receiver has ended', async () => {
    const receiver = await ReceiverProcess.start();
    await receiver.stop();
    await expect(receiver.waitForDeliveries(1)).rejects.toThrow('ECONNREFUSED');
  });
});

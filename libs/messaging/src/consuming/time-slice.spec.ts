import { TimeSlice } from './time-slice.js';

const delivery = (deliveryTag: number) => ({ fields: { deliveryTag } });
const allUpTo = { allUpTo: true };
const prefetch = 4;

describe('a time slice that is over', () => {
  const sliceWith = (received: number) => {
    const slice = new TimeSlice(prefetch, 0);
    for (let tag = 1; tag <= received; tag += 1) slice.recordReceived(delivery(tag));
    return slice;
  };

  it('ends the subscription when as many messages are handled as RabbitMQ sends unacknowledged', () => {
    const slice = sliceWith(prefetch);
    expect(slice.decideAcknowledgement(delivery(2), allUpTo)).toEqual({ isWithheld: true });
    expect(slice.decideAcknowledgement(delivery(4), allUpTo)).toMatchObject({
      isWithheld: false,
      endsSlice: true,
    });
  });

  it('continues after fewer messages, since another may be on its way', () => {
    const slice = sliceWith(prefetch - 1);
    expect(slice.decideAcknowledgement(delivery(1), allUpTo)).toEqual({ isWithheld: true });
    expect(slice.decideAcknowledgement(delivery(3), allUpTo)).toMatchObject({
      isWithheld: false,
      endsSlice: false,
    });
  });

  it('acknowledges withheld messages before a rejected one, and continues', () => {
    const slice = sliceWith(prefetch);
    expect(slice.decideAcknowledgement(delivery(2), allUpTo)).toEqual({ isWithheld: true });
    expect(slice.decideAcknowledgement(delivery(3), { allUpTo: false })).toEqual({
      isWithheld: false,
      endsSlice: false,
      withheld: delivery(2),
    });
    expect(slice.decideAcknowledgement(delivery(4), allUpTo)).toMatchObject({ endsSlice: false });
  });

  it('continues when another message may be on its way because messages were rejected in another order', () => {
    const slice = sliceWith(prefetch);
    const single = { allUpTo: false };
    for (const tag of [3, 1, 2]) slice.decideAcknowledgement(delivery(tag), single);
    slice.recordReceived(delivery(5));
    slice.recordReceived(delivery(6)); // RabbitMQ may send the messages up to 7
    expect(slice.decideAcknowledgement(delivery(6), allUpTo)).toMatchObject({ endsSlice: false });
  });
});

describe('a time slice that has not ended', () => {
  it('withholds no acknowledgement', () => {
    const slice = new TimeSlice(prefetch);
    slice.recordReceived(delivery(1));
    slice.recordReceived(delivery(2));
    expect(slice.decideAcknowledgement(delivery(1), allUpTo)).toMatchObject({
      isWithheld: false,
      endsSlice: false,
    });
    expect(slice.decideAcknowledgement(delivery(2), allUpTo)).toMatchObject({
      isWithheld: false,
      endsSlice: false,
    });
  });
});

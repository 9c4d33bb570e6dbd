import { stopHandler } from './stop-handler.js';

function newHandler() {
  const stop = new AbortController();
  const state = { nowMs: 5_000, isEnded: false };
  const handle = stopHandler(
    stop,
    () => {
      state.isEnded = true;
    },
    () => state.nowMs,
  );
  return { handle, state, signal: stop.signal };
}

describe('a request to stop the program', () => {
  it('lets the current step end, although one Ctrl-C arrives several times', () => {
    const { handle, state, signal } = newHandler();
    for (let signalCount = 0; signalCount < 3; signalCount += 1) handle();
    expect([signal.aborted, state.isEnded]).toEqual([true, false]);
  });

  it('ends the program at once when it is repeated a second later', () => {
    const { handle, state } = newHandler();
    handle();
    state.nowMs += 1_000;
    handle();
    expect(state.isEnded).toBe(true);
  });
});

/**
 * One Ctrl-C can arrive several times: from the terminal, and forwarded by the programs that started this
 * one. Only a request after this delay counts as a second one.
 */
const minSecondRequestDelayMs = 1_000;

/**
 * Returns the handler of requests to stop: the first aborts the controller, so that the command ends after
 * its current step; a second one ends the program at once.
 */
export function stopHandler(
  stop: AbortController,
  end: () => void,
  nowMs: () => number = () => performance.now(),
): () => void {
  let firstAtMs: number | undefined;
  return () => {
    firstAtMs ??= nowMs();
    stop.abort();
    if (nowMs() - firstAtMs >= minSecondRequestDelayMs) end();
  };
}

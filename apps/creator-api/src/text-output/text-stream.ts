import { PassThrough, type Readable } from 'node:stream';

export type WriteText = (text: string) => Promise<void>;

/**
 * Runs `produce`, and resolves at its first write with a stream of the text that it writes. A write waits
 * until the reader has taken the text before it, so memory is bounded by the reader's buffers and one text.
 * Because `produce` may hold a connection, the stream ends with an error if it has not been read to its end
 * within `maxDurationMs`.
 * @throws the error of `produce`, if it fails before it writes; later errors end the stream with an error
 */
export function textStream(
  produce: (write: WriteText) => Promise<void>,
  maxDurationMs: number,
): Promise<Readable> {
  const stream = new PassThrough();
  const deadline = setTimeout(() => stream.destroy(new Error('The reader is too slow.')), maxDurationMs);
  stream.once('close', () => clearTimeout(deadline));
  stream.on('error', () => undefined); // without a reader, an error would end the process
  return new Promise((resolve, reject) => {
    const write: WriteText = (text) => {
      resolve(stream);
      return new Promise((resolveWrite, rejectWrite) => {
        // A destroyed stream never calls back for the text that it holds.
        const rejectAtClose = () => rejectWrite(new Error('The reader has left.'));
        stream.once('close', rejectAtClose);
        stream.write(text, (error) => {
          stream.off('close', rejectAtClose);
          if (error == null) resolveWrite();
          else rejectWrite(error);
        });
      });
    };
    produce(write).then(
      () => {
        resolve(stream);
        stream.end();
      },
      (error: unknown) => {
        reject(error instanceof Error ? error : new Error(String(error)));
        stream.destroy(error instanceof Error ? error : undefined);
      },
    );
  });
}

import { broken } from './invalid-audio.js';

/** A box of ISO/IEC 14496-12 §4.2. */
interface Box {
  readonly type: string;
  readonly content: Buffer;
}
export type Boxes = readonly Box[];

/** Splits a box into its child boxes. @throws InvalidAudio when a child is longer than its parent */
export function boxesIn(parent: Buffer): Boxes {
  const boxes: Box[] = [];
  for (let at = 0; at + 8 <= parent.length;) {
    const length = parent.readUInt32BE(at);
    if (length === 0) break; // four zeros may end a list
    if (length < 8 || at + length > parent.length) return broken('A box is longer than its parent box.');
    boxes.push({
      type: parent.toString('latin1', at + 4, at + 8),
      content: parent.subarray(at + 8, at + length),
    });
    at += length;
  }
  return boxes;
}

export function find(boxes: Boxes, type: string): Buffer | undefined {
  return boxes.find((box) => box.type === type)?.content;
}

export function textAt(content: Buffer | undefined, at: number): string {
  return content?.toString('latin1', at, at + 4) ?? '';
}

/**
 * Reads a table of 32-bit numbers.
 * @param countAt offset of the entry count
 * @param from offset of the first number
 */
export function numbers(content: Buffer | undefined, countAt: number, from: number, perEntry = 2): number[] {
  if (content === undefined || content.length < from) return broken('The file has no sample table.');
  const count = content.readUInt32BE(countAt) * perEntry;
  if (from + count * 4 > content.length) return broken('The sample table is truncated.');
  return Array.from({ length: count }, (_, index) => content.readUInt32BE(from + index * 4));
}

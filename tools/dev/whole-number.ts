import { Failure } from './failure.ts';

/** Parses the value of an option. @throws Failure unless it is a whole number from `min` to `max` */
export function wholeNumber(option: string, text: string, min: number, max = Infinity): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  const range = max === Infinity ? `from ${min}` : `from ${min} to ${max}`;
  throw new Failure(`--${option} must be a whole number ${range}.`);
}

import { Failure } from './failure.ts';

/** The largest number with ten digits. */
const largest = 9_999_999_999;

/** Parses the value of an option. @throws Failure unless it is a whole number from `min` to `max` */
export function wholeNumber(option: string, text: string, min: number, max = largest): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new Failure(`--${option} must be a whole number from ${min} to ${max}.`);
}

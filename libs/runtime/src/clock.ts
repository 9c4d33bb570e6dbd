/** Time comes in as an argument where it decides something. */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();

/** Nest's token for the clock. */
export const CLOCK = Symbol('CLOCK');

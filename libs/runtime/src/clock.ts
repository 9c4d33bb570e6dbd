/** The current time, injected where it affects a decision. */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();

/** Nest's token for the clock. */
export const CLOCK = Symbol('CLOCK');

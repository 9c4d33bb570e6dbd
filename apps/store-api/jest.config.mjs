import preset from '../../jest.preset.mjs';

/** Two spec files run concurrently: each has its own server and stores, and mostly waits for them. */
export default { ...preset, maxWorkers: 2 };

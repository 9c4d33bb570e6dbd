import preset from '../../jest.preset.mjs';

/** Two files at a time: each has a server and stores of its own, and mostly waits for them. */
export default { ...preset, maxWorkers: 2 };

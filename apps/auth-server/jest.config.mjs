import preset from '../../jest.preset.mjs';

/** Two files at a time: each starts a server and a gateway, and mostly waits for their responses. */
export default { ...preset, maxWorkers: 2 };

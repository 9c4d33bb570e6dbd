export { scratchBroker, type ScratchBroker } from './scratch-broker.js';

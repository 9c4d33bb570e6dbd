/** Only for this repository. The published package contains a copy of the verifier instead (`prepack`). */
export * from '@fulfilment/webhook-verifier';

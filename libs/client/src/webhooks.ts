/** Used inside this repository. The package has a copy of the verifier instead, so it needs no dependency. */
export * from '@fulfilment/webhook-verifier';

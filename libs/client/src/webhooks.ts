/** Only for sources: the build replaces this by a copy of the verifier, so that nothing depends on it. */
export * from '@fulfilment/webhook-verifier';

/** The build copies the verifier into this package, so that the package has no dependency on it. */
export * from '@fulfilment/webhook-verifier';

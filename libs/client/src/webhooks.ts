/** Only for uses from source: in the package, this is a copy of the verifier, so it needs no dependency. */
export * from '@fulfilment/webhook-verifier';

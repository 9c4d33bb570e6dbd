import { DocumentedAnswers, readDocument } from '@fulfilment/testing/reference';

/** Every answer of the Store API, whoever asked, is held against its committed reference. */
export const documented = new DocumentedAnswers(readDocument('store'), '/store');

import { messages, type CreatorSnapshot, type Message, uuidv7 } from '@fulfilment/contracts';

export function aCreator(organisationId: string, changes: Partial<CreatorSnapshot> = {}): CreatorSnapshot {
  return {
    id: uuidv7(),
    version: 1,
    organisation_id: organisationId,
    name: 'Harbour Lights',
    payment_method: 'pm_ok',
    payment_terms_accepted: true,
    tax_interview_completed: true,
    settlement_currency: 'GBP',
    registered_at: '2026-01-01T00:00:00.000Z',
    ...changes,
  };
}

export function registrationMessage(creator: CreatorSnapshot): Message {
  return messages.creatorRegistered.make({ creator }, { occurredAt: new Date(creator.registered_at) });
}

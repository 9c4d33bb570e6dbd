import { consentPage } from './consent.page.js';

it('the drop-down list of creators shows the organisation of each, since creators may have the same name', () => {
  // Eight creators would be radio buttons.
  const creators = Array.from({ length: 9 }, (_, index) => ({
    id: `creator-${index}`,
    name: 'Unnamed creator',
    organisation_name: `Organisation ${index}`,
  }));
  const { body } = consentPage({
    uid: 'interaction',
    csrf: '',
    consentCsrf: '',
    appName: 'Tour Stats',
    formActionSources: [],
    verified: true,
    destination: 'app.example',
    email: 'owner@harbour.example',
    permissions: [],
    creators,
  });
  for (const { id, name, organisation_name: organisation } of creators)
    expect(body).toContain(`<option value="${id}">${name} (${organisation})</option>`);
});

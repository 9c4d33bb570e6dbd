export { boundDisagreements } from './bound-disagreements.js';
export { exampleFaults, formatFaults, undescribed } from './document-faults.js';
export { DocumentedAnswers, type GivenAnswer } from './documented-answers.js';
export { isAbout } from './is-about.js';
export { queryDisagreements } from './query-disagreements.js';
export { readDocument } from './read-document.js';
export { routesOfApp } from './routes-of-app.js';
export { SchemaJudge } from './schema-judge.js';

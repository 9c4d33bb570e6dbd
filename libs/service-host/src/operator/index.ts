// An entrance of its own: a command that runs for half a second does not load what serves HTTP.
export { operateService, type OperatorSite } from './operate-service.js';
export { operatorCommand, type OperatorCommand, type OperatorCommands } from './operator-command.js';
export { type BrokerSettings, deadLetterCommands } from './dead-letter-commands.js';
export { readSecret } from './read-secret.js';
export { createOperatorAudit, dropOperatorAudit, recordOperatorMessage } from './operator-audit.js';
export { currentOperator } from './operator-name.js';
export { momentOf } from './moment.rules.js';
export { momentArgument } from './moment-argument.js';
export { tellAgain, type ToldAgain } from './tell-again.js';

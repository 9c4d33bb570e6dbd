// An entry point without the HTTP stack, which short commands would take long to load.
export { migrateService } from '../migrate-service.js';
export { runServiceCli, type CommandContext } from './run-service-cli.js';
export { defineCommand, limitArgument, textArgument, type Command, type Commands } from './define-command.js';
export { type BrokerSettings, deadLetterCommands } from './dead-letter-commands.js';
export { readSecret } from './read-secret.js';
export { createOperatorAudit, recordOperatorMessage } from './operator-audit.js';
export { currentOperator } from './operator-name.js';
export { timeArgument } from './time-argument.js';
export { publishReplay } from './publish-replay.js';

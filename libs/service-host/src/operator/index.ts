// An entrance of its own: a command that runs for half a second does not load what serves HTTP.
export { operateService, type OperatorSite } from './operate-service.js';
export { operatorCommand, type OperatorCommand, type OperatorCommands } from './operator-command.js';
export { deadLetterCommands } from './dead-letter-commands.js';

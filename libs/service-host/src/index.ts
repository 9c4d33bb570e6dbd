export { openService, type Service } from './open-service.js';
export { migrateService } from './migrate-service.js';
export { operateService, type OperatorSite } from './operator/operate-service.js';
export { operatorCommand, type OperatorCommand, type OperatorCommands } from './operator/operator-command.js';

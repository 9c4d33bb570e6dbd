import { Module } from '@nestjs/common';
import { ReadStatements } from './read-statements.js';
import { StatementIssuing } from './statement-issuing.job.js';
import { StatementsController } from './statements.controller.js';

@Module({ controllers: [StatementsController], providers: [ReadStatements, StatementIssuing] })
export class StatementsModule {}

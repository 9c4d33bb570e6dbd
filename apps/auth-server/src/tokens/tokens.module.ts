import { Global, Module } from '@nestjs/common';
import { DenyList } from '../revocation/deny-list.js';
import { Families } from './families.js';
import { ResponseTimes } from './response-times.js';
import { StoredRows } from './stored-rows.js';
import { UnitOfWork } from './unit-of-work.js';

const providers = [DenyList, Families, ResponseTimes, StoredRows, UnitOfWork];

@Global()
@Module({ providers, exports: providers })
export class TokensModule {}

import { Global, Module } from '@nestjs/common';
import { DenyList } from '../revocation/deny-list.js';
import { Families } from './families.js';
import { ResponseTimestampStore } from './reuse/response-timestamps.js';
import { StoredRows } from './stored-rows.js';
import { UnitOfWork } from './unit-of-work/unit-of-work.js';

const providers = [DenyList, Families, ResponseTimestampStore, StoredRows, UnitOfWork];

@Global()
@Module({ providers, exports: providers })
export class TokensModule {}

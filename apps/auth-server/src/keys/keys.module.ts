import { LOGGER, SecretBox } from '@fulfilment/runtime';
import { Global, Module } from '@nestjs/common';
import { CONFIG, type AuthServerSettings } from '../config.js';
import { keyRotationJob } from './key-rotation.job.js';
import { SigningKeys } from './signing-keys.js';

@Global()
@Module({
  providers: [
    SigningKeys,
    {
      provide: SecretBox,
      inject: [CONFIG],
      useFactory: ({ KEY_ENCRYPTION_KEY }: AuthServerSettings) => new SecretBox(KEY_ENCRYPTION_KEY),
    },
    // Nothing injects it: the service host starts every provider that is a BackgroundTask.
    { provide: keyRotationJob, inject: [SigningKeys, CONFIG, LOGGER], useFactory: keyRotationJob },
  ],
  exports: [SecretBox, SigningKeys],
})
export class KeysModule {}

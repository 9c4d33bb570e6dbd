import { LOGGER, SecretBox } from '@fulfilment/runtime';
import { Global, Module } from '@nestjs/common';
import { CONFIG, type Config } from '../config.js';
import { keyRotation } from './key-rotation.js';
import { SigningKeys } from './signing-keys.js';

@Global()
@Module({
  providers: [
    SigningKeys,
    {
      provide: SecretBox,
      inject: [CONFIG],
      useFactory: ({ KEY_ENCRYPTION_KEY }: Config) => new SecretBox(KEY_ENCRYPTION_KEY),
    },
    { provide: keyRotation, inject: [SigningKeys, CONFIG, LOGGER], useFactory: keyRotation },
  ],
  exports: [SecretBox, SigningKeys],
})
export class KeysModule {}

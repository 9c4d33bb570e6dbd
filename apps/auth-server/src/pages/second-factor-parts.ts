import { Html, html } from '@fulfilment/http-service';
import { renderSVG } from 'uqr';

/** The secret for an authenticator app. */
export interface SecondFactorSetup {
  /** `otpauth://totp/…` */
  readonly keyUri: string;
  /** The secret to type. */
  readonly setupKey: string;
}

/** The QR code, and the same secret to type. */
export function setupSteps({ keyUri, setupKey }: SecondFactorSetup): Html {
  const qrCode = new Html(renderSVG(keyUri, { border: 0, ecc: 'M' })); // safe markup: squares of our own text
  return html`<p>Open your authenticator app, add an account and scan this QR code.</p>
    <div class="qr" role="img" aria-label="QR code for your authenticator app">${qrCode}</div>
    <details>
      <summary class="small">Can’t scan the code?</summary>
      <p>Add the account manually (time-based, six digits) with this key:<br /><code>${setupKey}</code></p>
    </details>`;
}

/** Input for a code of six digits or, if allowed, a recovery code. */
export function codeField({
  isWrong,
  allowsRecoveryCode,
  id = 'code',
}: {
  /** Whether the last code was wrong, so that the notice describes the field. */
  readonly isWrong: boolean;
  readonly allowsRecoveryCode: boolean;
  /** Id of the field, for a page with several forms. Default: `code`, which gets the focus. */
  readonly id?: string;
}): Html {
  return html`<div class="field">
    <label for="${id}">${allowsRecoveryCode ? 'Code or recovery code' : 'Code from the app'}</label>
    <input
      id="${id}"
      name="code"
      type="text"
      class="code"
      inputmode="${allowsRecoveryCode ? 'text' : 'numeric'}"
      autocomplete="one-time-code"
      autocapitalize="none"
      spellcheck="false"
      required
      maxlength="20"
      aria-invalid="${isWrong ? 'true' : 'false'}"
      ${isWrong ? html`aria-describedby="problem"` : undefined}
      ${id === 'code' ? html`autofocus` : undefined}
    />
  </div>`;
}

/** Shown once, since only the hashes are stored. */
export function recoveryCodeList(codes: readonly string[]): Html {
  return html`<p>
      If you lose your authenticator app, you can sign in with one of these codes. Each code works once. Print
      the codes or store them in a password manager: <strong>they are not shown again</strong>.
    </p>
    <ol class="codes" aria-label="Recovery codes">
      ${codes.map((code) => html`<li><code>${code}</code></li>`)}
    </ol>`;
}

import { createHash } from 'node:crypto';

/** The look of every page: one style sheet inside the page, so nothing else has to be fetched. */
export const style = `
:root{color-scheme:light dark;--ink:#16202b;--soft:#55636f;--line:#d5dce2;--paper:#fff;--ground:#eef2f4;--accent:#0b6b58;--accent-ink:#fff;--accent-soft:#e3f2ee;--bad:#a1201a;--bad-soft:#fdeceb;--field:#fff}
@media (prefers-color-scheme:dark){:root{--ink:#e9eff3;--soft:#9fb0bc;--line:#33424d;--paper:#17212a;--ground:#0e151b;--accent:#3fbf9f;--accent-ink:#06231c;--accent-soft:#12332c;--bad:#ff9d95;--bad-soft:#3a1a19;--field:#0f181f}}
*{box-sizing:border-box}
html{font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif;color:var(--ink);background:var(--ground)}
body{margin:0;min-height:100vh;display:flex;flex-direction:column;align-items:center;justify-content:center;padding:1.5rem 1rem}
main{width:100%;max-width:27rem;background:var(--paper);border:1px solid var(--line);border-radius:14px;padding:2rem;box-shadow:0 1px 2px rgba(10,30,40,.05),0 12px 32px -12px rgba(10,30,40,.14)}
.brand{display:flex;align-items:center;gap:.6rem;font-weight:650;letter-spacing:-.01em;margin:0 0 1.5rem}
.brand svg{width:1.75rem;height:1.75rem;color:var(--accent)}
h1{font-size:1.45rem;line-height:1.25;letter-spacing:-.015em;margin:0 0 .4rem;overflow-wrap:anywhere}
h2{font-size:.95rem;margin:1.4rem 0 .5rem}
p{margin:0 0 1rem}
.soft{color:var(--soft)}
.small{font-size:.875rem}
strong{font-weight:650;overflow-wrap:anywhere}
label,legend{font-weight:600;font-size:.92rem}
.field{margin:0 0 1.1rem}
.field label{display:block;margin:0 0 .35rem}
input[type=email],input[type=password],select{width:100%;font:inherit;color:inherit;background:var(--field);border:1px solid var(--soft);border-radius:8px;padding:.65rem .75rem}
input[aria-invalid=true]{border-color:var(--bad)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.notice{background:var(--bad-soft);color:var(--bad);border-radius:8px;padding:.75rem .9rem;margin:0 0 1.2rem;font-size:.95rem}
.actions{display:flex;flex-direction:column;gap:.6rem;margin-top:1.5rem}
form+form .actions{margin-top:.6rem}
main>:last-child{margin-bottom:0}
form+p{margin-top:1.2rem}
button,.button{display:block;width:100%;font:inherit;font-weight:600;text-align:center;text-decoration:none;border-radius:8px;padding:.7rem 1rem;border:1px solid transparent;background:var(--accent);color:var(--accent-ink);cursor:pointer}
button:hover{filter:brightness(1.06)}
button.quiet{background:transparent;color:var(--ink);border-color:var(--line)}
fieldset{border:0;margin:1.4rem 0 0;padding:0}
legend{padding:0;margin:0 0 .5rem}
.choice{display:flex;gap:.7rem;align-items:flex-start;border:1px solid var(--line);border-radius:8px;padding:.65rem .8rem;margin:0 0 .5rem;font-weight:500;cursor:pointer}
.choice:has(input:checked){border-color:var(--accent);background:var(--accent-soft)}
.choice input{accent-color:var(--accent);width:1.05rem;height:1.05rem;margin:.22rem 0 0;flex:none}
.choice span{min-width:0;overflow-wrap:anywhere}
ul.scopes{list-style:none;margin:0;padding:0;border:1px solid var(--line);border-radius:8px}
ul.scopes li{display:flex;gap:.65rem;padding:.55rem .8rem;border-top:1px solid var(--line)}
ul.scopes li:first-child{border-top:0}
ul.scopes svg{width:1.05rem;height:1.05rem;flex:none;margin-top:.25rem;color:var(--accent)}
footer{max-width:27rem;margin-top:1.2rem;text-align:center;color:var(--soft);font-size:.82rem}
@media (max-width:26rem){body{justify-content:flex-start;padding:0}main{border-width:0 0 1px;border-radius:0;padding:1.5rem 1.1rem;box-shadow:none}footer{padding:0 1.1rem 1.5rem}}
`;

/** What the Content-Security-Policy knows the style sheet by. */
export const styleHash = `'sha256-${createHash('sha256').update(style).digest('base64')}'`;

import { createHash } from 'node:crypto';

/** Style sheet of all pages. It is inline, so that a page is one request. */
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
input[type=email],input[type=password],input[type=text],select{width:100%;font:inherit;color:inherit;background:var(--field);border:1px solid var(--soft);border-radius:8px;padding:.65rem .75rem}
input[aria-invalid=true]{border-color:var(--bad)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.notice{background:var(--bad-soft);color:var(--bad);border-radius:8px;padding:.75rem .9rem;margin:0 0 1.2rem;font-size:.95rem}
.actions{display:flex;flex-direction:column;gap:.6rem;margin-top:1.5rem}
form+form .actions{margin-top:.6rem}
main>:last-child,#content>:last-child,section>:last-child{margin-bottom:0}
form+p{margin-top:1.2rem}
button,.button{display:block;width:100%;font:inherit;font-weight:600;text-align:center;text-decoration:none;border-radius:8px;padding:.7rem 1rem;border:1px solid transparent;background:var(--accent);color:var(--accent-ink);cursor:pointer}
a.narrow{max-width:25rem}
button:hover,a.button:hover{filter:brightness(1.06)}
.quiet{background:transparent;color:var(--ink);border-color:var(--line)}
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
input.code{font-size:1.25rem;letter-spacing:.18em;font-variant-numeric:tabular-nums}
.hint{display:block;color:var(--soft);font-size:.875rem;margin:.35rem 0 0}
.good{background:var(--accent-soft);color:var(--ink)}
.qr{display:block;width:13rem;max-width:100%;margin:1rem 0;background:#fff;padding:.6rem;border-radius:8px}
.qr svg{display:block;width:100%;height:auto}
code{font:600 1rem/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
ol.codes{list-style:none;display:grid;grid-template-columns:repeat(auto-fill,minmax(8.5rem,1fr));gap:.3rem 1rem;margin:0 0 1rem;padding:.9rem 1rem;border:1px solid var(--line);border-radius:8px}
body.account{justify-content:flex-start}
body.account main{max-width:44rem}
body.account .brand{margin:0}
.top{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:.4rem 1rem;margin:0 0 1.1rem}
nav{margin:0 0 1.6rem;border-bottom:1px solid var(--line)}
nav ul{display:flex;flex-wrap:wrap;gap:0 1.2rem;list-style:none;margin:0;padding:0}
nav a{display:block;padding:.55rem 0;margin-bottom:-1px;color:var(--soft);text-decoration:none;font-weight:600;border-bottom:2px solid transparent}
nav a:hover{color:var(--ink)}
nav a[aria-current]{color:var(--ink);border-color:var(--accent)}
a{color:var(--accent)}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:1rem;background:var(--paper);padding:.5rem .8rem;border-radius:8px}
ul.items{list-style:none;margin:0;padding:0}
ul.items>li{display:flex;flex-wrap:wrap;gap:.6rem 1.2rem;justify-content:space-between;align-items:flex-start;padding:1rem 0;border-top:1px solid var(--line)}
ul.items>li:first-child{border-top:0}
ul.items .about{flex:1 1 16rem;min-width:0}
ul.items p{margin:.15rem 0 0}
ul.items h2{margin:0;font-size:1.02rem;overflow-wrap:anywhere}
button.small{width:auto;padding:.42rem .85rem;font-size:.9rem}
button.grave{background:transparent;color:var(--bad);border-color:var(--bad)}
.tag{display:inline-block;font-size:.78rem;font-weight:600;border-radius:99px;padding:.05rem .6rem;background:var(--accent-soft);vertical-align:.08em}
section+section{margin-top:2rem;padding-top:1.6rem;border-top:1px solid var(--line)}
section>h2{margin:0 0 .3rem;font-size:1.12rem}
body.account form{max-width:25rem}
body.account ul.items form{max-width:none}
h1+section{margin-top:1.3rem}
h1+dl{margin-top:1rem}
dl{display:grid;grid-template-columns:minmax(7rem,auto) 1fr;gap:.5rem 1.2rem;margin:0}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
.empty{padding:1.4rem;text-align:center;color:var(--soft);border:1px dashed var(--line);border-radius:8px}
details{margin:.4rem 0 1rem}
summary{cursor:pointer;font-weight:600}
summary+*{margin-top:1rem}
@media (max-width:26rem){body{justify-content:flex-start;padding:0}main{border-width:0 0 1px;border-radius:0;padding:1.5rem 1.1rem;box-shadow:none}footer{padding:0 1.1rem 1.5rem}}
`;

/** Hash of the style sheet for the Content-Security-Policy. */
export const styleHash = `'sha256-${createHash('sha256').update(style).digest('base64')}'`;

import { createHash } from 'node:crypto';

/**
 * Style sheet of the reference, in the colours of the suite's pages. It is inline, so that the page is one
 * request.
 */
export const style = `
:root{color-scheme:light dark;--ink:#16202b;--soft:#55636f;--line:#d5dce2;--paper:#fff;--ground:#f6f8f9;--accent:#0b6b58;--accent-soft:#e3f2ee;--code:#eef2f4;--get:#0b5c8a;--post:#0b6b58;--patch:#8a5a00;--delete:#a1201a;--bad:#a1201a}
@media (prefers-color-scheme:dark){:root{--ink:#e9eff3;--soft:#9fb0bc;--line:#33424d;--paper:#121a21;--ground:#0e151b;--accent:#3fbf9f;--accent-soft:#12332c;--code:#1b2731;--get:#6db8ea;--post:#3fbf9f;--patch:#e0a94a;--delete:#ff9d95;--bad:#ff9d95}}
*{box-sizing:border-box}
html{font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif;color:var(--ink);background:var(--paper);scroll-padding-top:1rem}
body{margin:0;display:grid;grid-template-columns:19rem minmax(0,1fr)}
nav{position:sticky;top:0;align-self:start;height:100vh;overflow-y:auto;background:var(--ground);border-right:1px solid var(--line);padding:1.2rem 1rem 3rem;font-size:.9rem}
nav ul{list-style:none;margin:.2rem 0 .8rem;padding:0}
nav li a{display:flex;gap:.2rem;padding:.16rem .5rem;border-radius:6px;color:var(--soft);text-decoration:none;overflow-wrap:anywhere}
nav li a:hover{color:var(--ink);background:var(--accent-soft)}
nav summary{font-weight:650;padding:.2rem 0}
nav .method{font-size:.66rem;line-height:2.2;flex:none;min-width:3rem}
.brand{font-weight:650;font-size:1.05rem;margin:0 0 1rem}
.brand a{color:inherit;text-decoration:none}
main{padding:2rem clamp(1rem,4vw,4rem) 6rem;max-width:74rem;min-width:0}
h1{font-size:2rem;line-height:1.2;letter-spacing:-.02em;margin:0 0 .4rem}
h2{font-size:1.5rem;letter-spacing:-.015em;margin:3.5rem 0 .6rem;padding-top:1.2rem;border-top:2px solid var(--ink)}
h3{font-size:1.18rem;letter-spacing:-.01em;margin:2.2rem 0 .5rem}
h4{font-size:.95rem;margin:1.5rem 0 .5rem}
small{color:var(--soft);font-weight:400;font-size:.8rem}
p,ul{margin:0 0 .9rem;max-width:46rem}
article{padding:.2rem 0 1.6rem;border-bottom:1px solid var(--line)}
article:target>h3{color:var(--accent)}
.anchor{margin-left:.5rem;color:var(--soft);text-decoration:none;opacity:0}
h3:hover .anchor,.anchor:focus{opacity:1}
.route{margin:0 0 .8rem}
.method{display:inline-block;min-width:3.6rem;font:700 .78rem/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;color:var(--ink)}
.method.get{color:var(--get)}.method.post{color:var(--post)}.method.patch,.method.put{color:var(--patch)}.method.delete{color:var(--delete)}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.86em}
code{background:var(--code);border-radius:4px;padding:.08em .32em;overflow-wrap:anywhere}
pre{background:var(--code);border-radius:8px;padding:.8rem 1rem;margin:0 0 .9rem;overflow-x:auto;line-height:1.5;max-height:26rem}
pre code,th code{background:none;padding:0}
figure{margin:0 0 .9rem}
figcaption{color:var(--soft);font-size:.88rem;margin-bottom:.25rem}
.scroll{overflow-x:auto;margin:0 0 1rem}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.4rem .8rem .4rem 0;border-top:1px solid var(--line)}
thead th{border-top:0;color:var(--soft);font-weight:600;font-size:.8rem}
tbody th{font-weight:500;white-space:nowrap}
td{min-width:6rem}
.soft{color:var(--soft)}
.note{display:inline-block;color:var(--soft);font-size:.84rem;margin-right:.5rem}
abbr{text-decoration-style:dotted;cursor:help}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem;margin:0 0 1rem;font-size:.92rem}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
summary{cursor:pointer}
details.answer{border:1px solid var(--line);border-radius:8px;padding:.5rem .9rem;margin:0 0 .5rem}
details.answer[open]>summary{margin-bottom:.6rem}
details details{margin:.3rem 0}
.status{font:700 .86rem ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;margin-right:.4rem}
.good{color:var(--post)}.bad{color:var(--bad)}
a{color:var(--accent)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:4px}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:1rem;z-index:1;background:var(--paper);padding:.5rem .8rem}
@media (max-width:40rem){thead{display:none}tr{display:block;border-top:1px solid var(--line);padding:.5rem 0}th,td{display:inline-block;border:0;padding:0 .8rem .15rem 0;min-width:0}td:last-child{display:block}tbody th{white-space:normal;overflow-wrap:anywhere}}
@media (max-width:56rem){body{display:block}nav{position:static;height:auto;max-height:60vh;border-right:0;border-bottom:1px solid var(--line)}main{padding-top:1.2rem}}
@media print{body{display:block}nav{display:none}details:not([open])>*{display:block}}
`;

/** Hash of the style sheet for the Content-Security-Policy. */
export const styleHash = `'sha256-${createHash('sha256').update(style).digest('base64')}'`;

/** Inline style sheet of the reference page, in the colours of the suite's pages. */
export const style = `
:root{color-scheme:light dark;--ink:#16202b;--soft:#55636f;--line:#d5dce2;--paper:#fff;--ground:#f6f8f9;--accent:#0b6b58;--code:#eef2f4}
@media (prefers-color-scheme:dark){:root{--ink:#e9eff3;--soft:#9fb0bc;--line:#33424d;--paper:#121a21;--ground:#0e151b;--accent:#3fbf9f;--code:#1b2731}}
*{box-sizing:border-box}
html{font:16px/1.55 system-ui,sans-serif;color:var(--ink);background:var(--paper);scroll-padding-top:1rem}
body{margin:0;display:grid;grid-template-columns:19rem minmax(0,1fr)}
nav{position:sticky;top:0;height:100vh;overflow-y:auto;background:var(--ground);border-right:1px solid var(--line);padding:1rem;font-size:.9rem}
nav ul{list-style:none;margin:0 0 .6rem;padding:0 0 0 .6rem}
main{padding:2rem clamp(1rem,4vw,4rem) 6rem;max-width:76rem;min-width:0}
h1{font-size:2rem;line-height:1.2}
h2{font-size:1.5rem;margin:3.5rem 0 .6rem;padding-top:1.2rem;border-top:2px solid var(--ink)}
h3{font-size:1.18rem;margin:2.4rem 0 .5rem;padding-top:1rem;border-top:1px solid var(--line)}
a{color:var(--accent)}
h2 a,h3 a,nav a{color:inherit;text-decoration:none}
nav a:hover,:target{color:var(--accent)}
p,main ul{margin:0 0 .9rem;max-width:46rem}
code{font:.86em ui-monospace,Menlo,Consolas,monospace;background:var(--code);border-radius:4px;padding:.08em .32em;overflow-wrap:break-word}
pre{background:var(--code);border-radius:8px;padding:.8rem 1rem;margin:0 0 .9rem;overflow-x:auto;max-height:26rem}
pre code{padding:0}
table{display:block;overflow-x:auto;border-collapse:collapse;margin:0 0 1rem;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.4rem .8rem .4rem 0;border-top:1px solid var(--line)}
th{border-top:0;color:var(--soft)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
@media (max-width:56rem){body{display:block}nav{position:static;height:auto;max-height:60vh}}
@media print{body{display:block}nav{display:none}}
`;

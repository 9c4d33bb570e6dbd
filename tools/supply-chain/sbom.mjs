// Writes a software bill of materials (CycloneDX, JSON) of the production packages, from the installed
// packages and the lock file, without network access.
//   npm run -s sbom > sbom.cdx.json
import { spawnSync } from 'node:child_process';

const options = ['sbom', '--omit', 'dev', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
const { status, error } = spawnSync('npm', options, { stdio: ['ignore', 'inherit', 'inherit'] });
if (error !== undefined) console.error(`npm could not be started: ${error.message}`);
process.exit(status ?? 1);

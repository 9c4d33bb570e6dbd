import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.js';
import { watchedProcess } from '../watched-process.js';

export type PrometheusServer = Awaited<ReturnType<typeof startPrometheus>>;

/**
 * Starts a Prometheus that scrapes services every second. Returns before it is ready.
 * @param program path of its executable
 * @param targets `host:port` of each job
 * @param ruleFiles paths of alerting rules
 */
export async function startPrometheus(
  program: string,
  targets: Readonly<Record<string, string>>,
  ruleFiles: readonly string[],
) {
  const dir = mkdtempSync(join(tmpdir(), 'prometheus-'));
  const config = join(dir, 'prometheus.json'); // JSON is YAML
  const jobs = Object.entries(targets).map(([job_name, target]) => ({
    job_name,
    static_configs: [{ targets: [target] }],
  }));
  writeFileSync(
    config,
    JSON.stringify({ global: { scrape_interval: '1s' }, scrape_configs: jobs, rule_files: ruleFiles }),
  );
  const address = `127.0.0.1:${await freePort()}`;
  const stop = watchedProcess(dir, [
    program,
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(dir, 'data')}`,
    '--log.level=error',
    `--web.listen-address=${address}`,
  ]);
  return {
    /**
     * Returns `data` of the response of `/api/v1/<path>`.
     * @throws Error with the response if it is an error or has warnings
     */
    read: async (path: string, parameters: Readonly<Record<string, string>> = {}): Promise<unknown> => {
      const query = new URLSearchParams(parameters).toString();
      const response = await fetch(`http://${address}/api/v1/${path}?${query}`);
      const body: unknown = await response.json();
      if (body instanceof Object && 'data' in body && response.ok && !('warnings' in body)) return body.data;
      throw new Error(JSON.stringify(body));
    },
    stop,
  };
}

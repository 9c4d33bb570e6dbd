import { type AlertRule, alertRules, thresholdOf } from './alert-rules.ts';

export interface Panel {
  readonly title: string;
  readonly description?: string;
  readonly unit: 'short' | 'ops' | 'reqps' | 's' | 'percentunit' | 'bytes';
  /** Expressions in PromQL, by their legend. */
  readonly queries: Readonly<Record<string, string>>;
  /** Alerts on the values of the panel. The panel links to the section of each in the runbook. */
  readonly alerts?: readonly string[];
  /** The threshold to draw: a number, or the name of an alert that compares the same value. */
  readonly threshold?: string | number;
  readonly type?: 'timeseries' | 'table';
  /** Whether points link to traces. */
  readonly exemplars?: boolean;
}

interface Dashboard {
  readonly uid: string;
  readonly title: string;
  /** Absolute URL of the runbook: Grafana resolves a relative one at its own address. */
  readonly runbook: string;
  /** Panels by the title of their row. */
  readonly rows: Readonly<Record<string, readonly Panel[]>>;
}

const datasource = { type: 'prometheus', uid: '${datasource}' };
const [panelsPerRow, width, height] = [3, 8, 8]; // a row of Grafana's grid has 24 units
const tag = 'fulfilment-suite';

/** A dashboard in Grafana's JSON model. Its reader chooses the data source. */
export function grafanaDashboard({ uid, title, runbook, rows }: Dashboard): object {
  const rules = new Map(alertRules().map((rule) => [rule.alert, rule]));
  const panels: object[] = [];
  let top = 0;
  for (const [rowTitle, members] of Object.entries(rows)) {
    const gridPos = { h: 1, w: panelsPerRow * width, x: 0, y: top };
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title: rowTitle,
      collapsed: false,
      gridPos,
      panels: [],
    });
    top += 1;
    for (const [index, member] of members.entries()) {
      const [x, y] = [(index % panelsPerRow) * width, top + Math.floor(index / panelsPerRow) * height];
      panels.push({
        id: panels.length + 1,
        ...panelModel(member, rules),
        gridPos: { h: height, w: width, x, y },
      });
    }
    top += Math.ceil(members.length / panelsPerRow) * height;
  }
  return {
    uid,
    title,
    tags: [tag],
    schemaVersion: 39,
    editable: false,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    timezone: 'browser',
    links: [{ type: 'dashboards', title: 'Dashboards', tags: [tag], asDropdown: true, keepTime: true }],
    templating: {
      list: [
        { type: 'datasource', name: 'datasource', label: 'Data source', query: 'prometheus' },
        { type: 'textbox', name: 'runbook', label: 'Runbook', query: runbook },
      ],
    },
    panels,
  };
}

function panelModel(panel: Panel, rules: ReadonlyMap<string, AlertRule>): object {
  const { type = 'timeseries', exemplars = false } = panel;
  const find = (alert: string): AlertRule => {
    const rule = rules.get(alert);
    if (rule === undefined) throw new Error(`${panel.title}: there is no alert ${alert}.`);
    return rule;
  };
  const threshold =
    typeof panel.threshold === 'string' ? thresholdOf(find(panel.threshold)) : panel.threshold;
  const isTable = type === 'table';
  return {
    type,
    title: panel.title,
    description: panel.description ?? '',
    datasource,
    links: (panel.alerts ?? []).map((alert) => ({
      title: `What to do: ${alert}`,
      url: `\${runbook:raw}#${find(alert).annotations.runbook_url.split('#')[1] ?? ''}`,
      targetBlank: true,
    })),
    fieldConfig: {
      defaults: {
        unit: panel.unit,
        min: 0,
        ...(threshold === undefined ? {} : thresholdLine(threshold)),
      },
      overrides: [],
    },
    options: isTable
      ? {}
      : {
          legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
          tooltip: { mode: 'multi', sort: 'desc' },
        },
    targets: Object.entries(panel.queries).map(([legendFormat, expr], index) => ({
      refId: String.fromCodePoint('A'.charCodeAt(0) + index),
      datasource,
      expr,
      legendFormat,
      ...(isTable ? { instant: true, format: 'table' } : { range: true }),
      ...(exemplars ? { exemplar: true } : {}),
    })),
  };
}

function thresholdLine(value: number): object {
  const steps = [
    { color: 'green', value: null },
    { color: 'red', value },
  ];
  return { thresholds: { mode: 'absolute', steps }, custom: { thresholdsStyle: { mode: 'dashed' } } };
}

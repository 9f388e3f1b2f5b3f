import { DASHBOARDS, type Panel } from '#test/ops/reference/panels.ts';

const TITLES = { fleet: 'Game Catalogue', review: 'Review', kyc: 'KYC' } as const;
const COLUMNS = 24;

const thresholds = ([zero, one]: readonly [string, string?]) => ({
  mode: 'absolute',
  steps: [{ color: zero, value: null }, ...(one === undefined ? [] : [{ color: one, value: 1 }])],
});

/** Puts the panels in rows from left to right. */
const place = (panels: readonly Panel[]) => {
  let [x, y] = [0, 0];
  return panels.map((panel, index) => {
    const { title, description = '', expr, legend = '', unit = 'short', stat } = panel;
    const [w, h] = [panel.width ?? (stat === undefined ? 8 : 4), stat === undefined ? 8 : 4];
    const gridPos = { x, y, w, h };
    x += w;
    if (x >= COLUMNS) [x, y] = [0, y + h];
    return {
      id: index + 1,
      type: stat === undefined ? 'timeseries' : 'stat',
      title,
      description,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Grafana
      datasource: { type: 'prometheus', uid: '${datasource}' },
      gridPos,
      fieldConfig: {
        defaults: { unit, min: 0, ...(stat !== undefined && { thresholds: thresholds(stat) }) },
        overrides: [],
      },
      targets: [{ refId: 'A', expr, legendFormat: legend }],
      ...(stat !== undefined && {
        options: { colorMode: 'background', graphMode: 'none', reduceOptions: { calcs: ['lastNotNull'] } },
      }),
    };
  });
};

/** The document that Grafana imports. */
export const renderDashboard = (name: keyof typeof DASHBOARDS): string => {
  const datasource = { name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Prometheus' };
  const dashboard = {
    title: TITLES[name],
    uid: name === 'fleet' ? 'game-catalogue' : `game-catalogue-${name}`,
    schemaVersion: 39,
    version: 1,
    editable: true,
    refresh: '10s',
    time: { from: 'now-6h', to: 'now' },
    tags: ['catalogue'],
    templating: { list: [datasource] },
    annotations: { list: [] },
    panels: place(DASHBOARDS[name]),
  };
  return `${JSON.stringify(dashboard, null, 1)}\n`;
};

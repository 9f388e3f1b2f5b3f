import { metrics, type Observable } from '@opentelemetry/api';
import type { Registry } from 'prom-client';

/**
 * Offers the counters and gauges of a registry to OpenTelemetry, which reads them when it sends metrics; without its SDK
 * nothing reads them. Histograms are recorded where they are observed, because an observer cannot report one.
 */
export const sendMetrics = (registry: Registry): void => {
  const meter = metrics.getMeter('game-catalogue');
  const observables = new Map<string, Observable>();
  for (const { name, help: description, type } of registry.getMetricsAsArray() as unknown as Described[]) {
    if (type === 'counter') observables.set(name, meter.createObservableCounter(name, { description }));
    if (type === 'gauge') observables.set(name, meter.createObservableGauge(name, { description }));
  }
  meter.addBatchObservableCallback(
    async (result) => {
      for (const { name, values } of await registry.getMetricsAsJSON()) {
        const observable = observables.get(name);
        if (observable === undefined) continue;
        for (const { value, labels } of values) result.observe(observable, value, labels as Labels);
      }
    },
    [...observables.values()],
  );
};

type Described = { name: string; help: string; type: string };
type Labels = Record<string, string>;

// Loaded first by a worker whose clock is to be wrong: by as many hours as its address says after the "?". Of
// several, separated by commas, each SIGUSR2 brings the next.
const shifts = (import.meta.url.split('?')[1] ?? '0').split(',').map((hours) => Number(hours) * 3_600_000);
let shiftMs = shifts.shift() ?? 0;
process.on('SIGUSR2', () => {
  shiftMs = shifts.shift() ?? 0;
});
const RealDate = Date;
const now = () => RealDate.now() + shiftMs;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args) => (args.length === 0 ? new target(now()) : Reflect.construct(target, args)),
  apply: () => new RealDate(now()).toString(),
  get: (target, property) => (property === 'now' ? now : Reflect.get(target, property)),
});

// Preloaded into every measured process (`--import`): answers its parent what it has used so far. It costs
// nothing between requests.
import type { Usage } from '#test/bench/processes.ts';

const usage = (): Usage => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  return { cpuUs: userCPUTime + systemCPUTime, maxRssMb: maxRSS / 1024 };
};

process.on('message', (message) => {
  if (message === 'usage') process.send?.({ usage: usage() });
});

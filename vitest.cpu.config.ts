import base from './vitest.config.ts';

const config = base as any;
for (const p of config.test.projects) p.test.setupFiles = ['/tmp/tests/cpu-setup.ts'];
export default config;

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const promtool = async (...args: string[]): Promise<string | null> => {
  try {
    const { stdout } = await promisify(execFile)('promtool', args, { cwd: 'deploy/prometheus' });
    return stdout;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && !process.env.CI) return null;
    throw error;
  }
};

test.for([
  ['check', 'rules', 'rules.yaml'],
  ['test', 'rules', 'rules.test.yaml'],
  ['check', 'config', 'prometheus.yaml'],
])('promtool %s %s %s', async (args, { skip }) => {
  const said = await promtool(...args);
  if (said === null) return skip('there is no promtool here: apt-get install -y prometheus');
  expect(said).toContain('SUCCESS');
});

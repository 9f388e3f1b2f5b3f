import { readFile } from 'node:fs/promises';
import { ROLES, readCompose } from '#test/ops/compose.ts';
import { code, type Table } from '#test/ops/reference/table.ts';

/** The variables of .env.example: a comment is about all variables up to the next comment. */
const readVariables = (example: string): { name: string; value: string; comment: string }[] => {
  const found: { name: string; value: string; comment: string }[] = [];
  let comment: string[] = [];
  let isComment = false;
  for (const line of example.split('\n')) {
    const [, name, value = ''] = /^([A-Z_]+)=(.*)$/.exec(line) ?? [];
    if (name !== undefined) {
      const isFirst = isComment;
      found.push({ name, value, comment: isFirst ? comment.join(' ') : 'as above' });
      isComment = false;
    } else if (line.startsWith('# ---') || line === '') {
      comment = [];
    } else {
      if (!isComment) comment = [];
      comment.push(line.replace(/^# {3}(\S.*?) {3,}(\S+)/, '$1: `$2`;').replace(/^# */, ''));
      isComment = true;
    }
  }
  return found;
};

/** Every variable, with the processes that Compose gives it to. */
export const readEnvironment = async (): Promise<Table> => {
  const { services } = await readCompose();
  const roles = [...ROLES, 'operator'];
  const receiversOf = (name: string): string => {
    const given = roles.filter((role) => services[role]?.environment?.[name] !== undefined);
    return given.length === roles.length ? 'all' : given.join(', ');
  };
  return {
    title: 'Environment',
    intro:
      '`.env.example` is this table in the form of a file. The last column is what docker-compose.yml gives to whom; `operator` is the command line. A secret may be a file: `ENCRYPTION_KEYS_FILE=/run/secrets/keys`.',
    head: ['variable', 'default', 'meaning', 'in Compose'],
    rows: readVariables(await readFile('.env.example', 'utf8')).map(({ name, value, comment }) => [
      code(name),
      code(value),
      comment,
      receiversOf(name),
    ]),
  };
};

import { globSync, readFileSync } from 'node:fs';
import { parseSync, Visitor } from 'oxc-parser';
import { PACKAGE_OWNERS, ROOMS } from '#test/ops/rooms.ts';

type Import = { from: string; typeOnly: boolean };

/** Every import of a module: static, dynamic, required, re-exported, or of a type. */
const listImports = (path: string, code: string): Import[] => {
  const imports: Import[] = [];
  const add = (source: { value?: unknown } | null, typeOnly: boolean): void => {
    if (source !== null) imports.push({ from: String(source.value ?? '(computed)'), typeOnly });
  };
  const { program, errors } = parseSync(path, code);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  new Visitor({
    ImportDeclaration: ({ source, importKind, specifiers }) =>
      add(
        source,
        importKind === 'type' ||
          (specifiers.length > 0 &&
            specifiers.every((each) => each.type === 'ImportSpecifier' && each.importKind === 'type')),
      ),
    ExportNamedDeclaration: ({ source, exportKind, specifiers }) =>
      add(
        source,
        exportKind === 'type' ||
          (specifiers.length > 0 && specifiers.every((each) => each.exportKind === 'type')),
      ),
    ExportAllDeclaration: ({ source, exportKind }) => add(source, exportKind === 'type'),
    ImportExpression: ({ source }) => add(source.type === 'Literal' ? source : {}, false),
    CallExpression: ({ callee, arguments: [first] }) => {
      if (callee.type === 'Identifier' && callee.name === 'require' && first?.type === 'Literal')
        add(first, false);
    },
    TSImportType: ({ source }) => add(source, true),
  }).visit(program);
  return imports;
};

const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

/** The most specific room of a path. */
export const roomOf = (path: string): string | undefined =>
  Object.keys(ROOMS)
    .filter((room) => isBelow(path, room))
    .toSorted((a, b) => b.length - a.length)[0];

const mayImport = (path: string, { from, typeOnly }: Import): boolean => {
  const name = roomOf(path);
  const room = ROOMS[name ?? ''];
  if (room === undefined || /^[./(]/.test(from)) return false;
  if (!from.startsWith('#')) {
    const owners = Object.entries(PACKAGE_OWNERS).find(([owned]) => isBelow(from, owned))?.[1];
    if (owners !== undefined && !typeOnly && !owners.some((owner) => isBelow(path, owner))) return false;
    return room.packages?.some((each) => isBelow(from, each)) ?? true;
  }
  const target = from.slice(1);
  const targetRoom = roomOf(target);
  if (targetRoom === undefined || targetRoom === name) return targetRoom === name;
  const allowed = typeOnly ? [...room.imports, ...(room.types ?? [])] : room.imports;
  // `db` does not cover `db/schema`, which is a room of its own.
  return allowed.some((each) => isBelow(target, each) && roomOf(each) === targetRoom);
};

/** @returns a sentence for each entry of the table that is not above its own room: without them, rooms form no circle */
const listUpwardEntries = (): string[] => {
  const order = Object.keys(ROOMS);
  return Object.entries(ROOMS).flatMap(([room, { imports, types = [] }]) =>
    [...imports, ...types]
      .filter((each) => {
        const place = order.indexOf(roomOf(each) ?? '');
        return place === -1 || place >= order.indexOf(room);
      })
      .map((each) => `${room} may import ${each}, which is not a room above it`),
  );
};

/** The imports of all modules, with their paths. */
const found = import.meta.main
  ? globSync('{src,jobs,db}/**/*.ts').flatMap((path) =>
      listImports(path, readFileSync(path, 'utf8')).map((each) => ({ path, ...each })),
    )
  : [];

/** @returns a sentence for each import that the table of rooms does not allow */
const listForbiddenImports = (): string[] =>
  found
    .filter((each) => !mayImport(each.path, each))
    .map(({ path, from, typeOnly }) => `${path} imports ${typeOnly ? 'types of ' : ''}${from}`);

/** @returns a sentence for each entry of the table that allows an import which no module has */
const listUnusedEntries = (): string[] =>
  Object.entries(ROOMS).flatMap(([room, { imports, types = [], packages = [] }]) => {
    const targets = found
      .filter(({ path }) => roomOf(path) === room)
      .map(({ from }) => from.replace(/^#/, ''));
    return [...imports, ...types, ...packages]
      .filter((each) => !targets.some((target) => isBelow(target, each) && roomOf(target) === roomOf(each)))
      .map((each) => `${room} imports nothing of ${each}`);
  });

if (import.meta.main) {
  const problems = [...listUpwardEntries(), ...listForbiddenImports(), ...listUnusedEntries()];
  for (const each of problems) process.stderr.write(`${each}\n`);
  if (problems.length > 0) {
    process.stderr.write('The rooms in test/ops/rooms.ts do not allow this.\n');
    process.exitCode = 1;
  }
}

import { globSync, readFileSync } from 'node:fs';
import { parseSync, Visitor } from 'oxc-parser';

/** Bare forms of the verbs that docstrings of this code begin with, in the third person. */
const BARE_VERBS = new Set(
  `abort accept add allow answer append apply approve ask assign build call cancel change check clear close collect compare
  compute confirm convert copy correct count create decode decrypt delete describe destroy draw drop encode encrypt
  end escape fail fetch fill find finish format forget get give handle hash insert join keep leave list load lock log
  look make map mark mask measure merge migrate move name note open parse pause pin place postpone print publish pull
  raise read record recover register reject release remove render replace report request reset resolve resume retire
  retry return revoke run save schedule seal search send serve set show sign sort split start stop store sum switch
  take throw try turn undo unwrap update use validate verify wait warn withdraw wrap write`.split(/\s+/),
);

const isFunction = (type: string | undefined): boolean =>
  type === 'ArrowFunctionExpression' || type === 'FunctionExpression';

/** @returns where each function of a module begins, with its `export` */
const listFunctionStarts = (path: string, code: string) => {
  const { program, comments, errors } = parseSync(path, code);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const starts = new Set<number>();
  const exported = new Map<number, number>();
  new Visitor({
    ExportNamedDeclaration: ({ start, declaration }) => {
      if (declaration !== null) exported.set(declaration.start, start);
    },
    FunctionDeclaration: ({ start }) => {
      starts.add(exported.get(start) ?? start);
    },
    VariableDeclaration: ({ start, declarations }) => {
      if (isFunction(declarations[0]?.init?.type)) starts.add(exported.get(start) ?? start);
    },
    Property: ({ start, value }) => {
      if (isFunction(value.type)) starts.add(start);
    },
  }).visit(program);
  return { starts, comments };
};

/** @returns a sentence for each function whose docstring gives an order ("Read …") instead of telling what it does */
const listImperatives = (path: string, code: string): string[] => {
  const { starts, comments } = listFunctionStarts(path, code);
  return comments.flatMap(({ type, value, end }) => {
    const next = end + (code.slice(end).match(/^\s*/)?.[0].length ?? 0);
    const [, verb, rest = ''] = value.match(/^\*[\s*]*(\w+)\b(.*)/) ?? [];
    const isDocstring = type === 'Block' && value.startsWith('*') && starts.has(next);
    // "Hash of a token" is a noun.
    if (!isDocstring || verb === undefined || !BARE_VERBS.has(verb.toLowerCase()) || /^ of\b/.test(rest))
      return [];
    return [`${path}:${code.slice(0, next).split('\n').length} "${verb}${rest}"`];
  });
};

const found = globSync('{src,jobs,db}/**/*.ts').flatMap((path) =>
  listImperatives(path, readFileSync(path, 'utf8')),
);
for (const each of found) process.stderr.write(`${each}\n`);
if (found.length > 0) {
  process.stderr.write('A docstring is in the third person: "Reads …", not "Read …".\n');
  process.exitCode = 1;
}

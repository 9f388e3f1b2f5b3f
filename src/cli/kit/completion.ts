import { Argument, type Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { defineCommand } from '#src/cli/kit/command.ts';

/** A command, or a group of commands: its words, and what may follow them. */
type Node = { path: string; commands: CommandUnknownOpts[]; options: { name: string; summary: string }[] };

const readTree = (program: CommandUnknownOpts): Node[] => {
  const toNodes = (command: CommandUnknownOpts, path: string): Node[] => [
    {
      path,
      commands: [...command.commands],
      options: [
        ...command.options.map(({ long, description }) => ({ name: long ?? '', summary: description })),
        { name: '--help', summary: 'show the usage' },
      ],
    },
    ...command.commands.flatMap((each) => toNodes(each, `${path} ${each.name()}`.trim())),
  ];
  return toNodes(program, '');
};

const toBash = (tree: readonly Node[]): string => {
  const groups = tree.filter(({ commands }) => commands.length > 0).map(({ path }) => `'${path}'`);
  const cases = tree.map(({ path, commands, options }) => {
    const words = [...commands.map((each) => each.name()), ...options.map(({ name }) => name)];
    return `    '${path}') words='${words.join(' ')}' ;;`;
  });
  return `_catalogue() {
  local words path='' at=1
  while [ "$at" -lt "$COMP_CWORD" ]; do
    case "$path" in
      ${groups.join(' | ')}) path="\${path:+$path }\${COMP_WORDS[$at]}" ;;
      *) break ;;
    esac
    at=$((at + 1))
  done
  case "$path" in
${cases.join('\n')}
    *) words='' ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _catalogue catalogue`;
};

const toFish = (tree: readonly Node[]): string => {
  const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = tree.flatMap(({ path, commands, options }) => {
    const seen = path
      .split(' ')
      .filter((word) => word !== '')
      .map((word) => `__fish_seen_subcommand_from ${word}`);
    const here = seen.length === 0 ? '__fish_use_subcommand' : seen.join('; and ');
    const names = commands.map((each) => each.name()).join(' ');
    const isFree = seen.length === 0 ? here : `${here}; and not __fish_seen_subcommand_from ${names}`;
    return [
      ...commands.map(
        (each) =>
          `complete -c catalogue -f -n ${quote(isFree)} -a ${each.name()} -d ${quote(each.summary())}`,
      ),
      ...options.map(
        ({ name, summary }) =>
          `complete -c catalogue -n ${quote(here)} -l ${name.slice(2)} -d ${quote(summary)}`,
      ),
    ];
  });
  return lines.join('\n');
};

const SCRIPTS = {
  bash: toBash,
  zsh: (tree: readonly Node[]) =>
    `autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${toBash(tree)}`,
  fish: toFish,
};
const SHELLS = Object.keys(SCRIPTS) as (keyof typeof SCRIPTS)[];

/** `catalogue completion <shell>`: prints a script that completes commands and options. */
export const registerCompletion = (program: Command, loadAll: () => Promise<Command>): void =>
  defineCommand(program, 'completion', {
    details: 'bash and zsh: source <(catalogue completion bash). fish: catalogue completion fish | source.',
    examples: ['completion bash', 'completion fish'],
    parameters: (command) => command.addArgument(new Argument('<shell>', 'the shell').choices(SHELLS)),
    run: async ({ out }, shell) => {
      const script = SCRIPTS[shell](readTree(await loadAll()));
      out.answer({ script }, ...script.split('\n'));
    },
  });

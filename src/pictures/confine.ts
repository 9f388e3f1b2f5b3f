/**
 * Confines a process of Linux to what decoding a picture needs, for good: seccomp(2), through Node's FFI. It takes no
 * privilege and no other program, so it works in a container without capabilities.
 */

import { dlopen, getRawPointer } from 'node:ffi';
import { closeSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The numbers of a system call on x64 and arm64; null: arm64 has none. */
type Numbers = readonly [x64: number, arm64: number | null];

/**
 * The allowed system calls: memory, threads, time, and the descriptors that are open already. Nothing opens a file or a socket,
 * starts a program or a process, or touches another process.
 */
const ALLOWED: Readonly<Record<string, Numbers>> = {
  read: [0, 63],
  write: [1, 64],
  close: [3, 57],
  fstat: [5, 80],
  poll: [7, null],
  lseek: [8, 62],
  mprotect: [10, 226],
  munmap: [11, 215],
  brk: [12, 214],
  rt_sigaction: [13, 134],
  rt_sigprocmask: [14, 135],
  rt_sigreturn: [15, 139],
  readv: [19, 65],
  writev: [20, 66],
  sched_yield: [24, 124],
  mremap: [25, 216],
  nanosleep: [35, 101],
  getpid: [39, 172],
  sendmsg: [46, 211],
  recvmsg: [47, 212],
  exit: [60, 93],
  gettimeofday: [96, 169],
  getrusage: [98, 165],
  sysinfo: [99, 179],
  sigaltstack: [131, 132],
  gettid: [186, 178],
  futex: [202, 98],
  sched_getparam: [143, 121],
  sched_getscheduler: [145, 120],
  sched_getaffinity: [204, 123],
  restart_syscall: [219, 128],
  clock_gettime: [228, 113],
  clock_getres: [229, 114],
  clock_nanosleep: [230, 115],
  exit_group: [231, 94],
  epoll_wait: [232, null],
  epoll_ctl: [233, 21],
  ppoll: [271, 73],
  set_robust_list: [273, 99],
  epoll_pwait: [281, 22],
  getcpu: [309, 168],
  getrandom: [318, 278],
  membarrier: [324, 283],
  rseq: [334, 293],
};

/** Allowed for private memory of usual pages only, because no size of the process includes other memory. */
const MMAP = [9, 222] as const;
const [MAP_SHARED, MAP_HUGETLB] = [0x01, 0x40000];
/** Allowed with CLONE_THREAD only, so that it starts threads and no processes. */
const CLONE = [56, 220] as const;
const CLONE_THREAD = 0x10000;
/** Its flags are in memory, which a filter cannot read. glibc falls back to clone if this call does not exist. */
const CLONE3 = 435;
const IO_URING_SETUP = 425;
/** Allowed for flags of descriptors only: commands up to F_SETFL. */
const FCNTL = [72, 25] as const;
const F_SETFL = 4;
/** Allowed up to the advice that moves no memory to the swap, where no size of the process includes it. */
const MADVISE = [28, 233] as const;
const MADV_COLD = 20;

const ARCHITECTURES = {
  x64: { audit: 0xc000003e, seccomp: 317 },
  arm64: { audit: 0xc00000b7, seccomp: 277 },
};

// Classic BPF (linux/filter.h) on struct seccomp_data: the number of the call, the architecture, the arguments.
const [LOAD, IF_EQUAL, IF_GREATER, IF_SET, RETURN] = [0x20, 0x15, 0x25, 0x45, 0x06];
const [NUMBER, ARCHITECTURE, FIRST_ARGUMENT, SECOND_ARGUMENT, THIRD_ARGUMENT, FOURTH_ARGUMENT] = [
  0, 4, 16, 24, 32, 40,
];
const [ALLOW, KILL] = [0x7fff0000, 0x80000000];
const failWith = (errno: number): number => 0x50000 | errno;
const [EPERM, ENOSYS] = [1, 38];

const instruction = (code: number, value: number, ifTrue = 0, ifFalse = 0): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
};

/** Allows a call whose argument is at most this number. */
const allowUpTo = (number: number, argument: number, most: number): Buffer[] => [
  instruction(IF_EQUAL, number, 0, 4),
  instruction(LOAD, argument),
  instruction(IF_GREATER, most, 0, 1),
  instruction(RETURN, failWith(EPERM)),
  instruction(RETURN, ALLOW),
];

const confinement = (column: Column): Buffer[] => [
  ...Object.values(ALLOWED)
    .flatMap((numbers) => numbers[column] ?? [])
    .flatMap((number) => [instruction(IF_EQUAL, number, 0, 1), instruction(RETURN, ALLOW)]),
  instruction(IF_EQUAL, MMAP[column], 0, 4),
  instruction(LOAD, FOURTH_ARGUMENT),
  instruction(IF_SET, MAP_SHARED | MAP_HUGETLB, 0, 1),
  instruction(RETURN, failWith(EPERM)),
  instruction(RETURN, ALLOW),
  instruction(IF_EQUAL, CLONE3, 0, 1),
  instruction(RETURN, failWith(ENOSYS)),
  instruction(IF_EQUAL, CLONE[column], 0, 4),
  instruction(LOAD, FIRST_ARGUMENT),
  instruction(IF_SET, CLONE_THREAD, 1),
  instruction(RETURN, failWith(EPERM)),
  instruction(RETURN, ALLOW),
  ...allowUpTo(FCNTL[column], SECOND_ARGUMENT, F_SETFL),
  ...allowUpTo(MADVISE[column], THIRD_ARGUMENT, MADV_COLD),
  instruction(RETURN, failWith(EPERM)),
];

const PR_SET_NO_NEW_PRIVS = 38;
const SECCOMP_SET_MODE_FILTER = 1n;
/** Applies the filter to every thread of the process, not only to the calling one. */
const SECCOMP_FILTER_FLAG_TSYNC = 1n;
const INSTRUCTION_BYTES = 8;

type Column = 0 | 1;

/** Installs a filter for good. Processes that this thread starts later inherit it. @throws Error if the system refuses */
const install = (instructionsOf: (column: Column) => Buffer[], flags: bigint): void => {
  const architecture = ARCHITECTURES[process.arch as keyof typeof ARCHITECTURES];
  if (process.platform !== 'linux' || architecture === undefined)
    throw new Error(`there is no seccomp filter for ${process.platform} on ${process.arch}`);
  const { prctl, syscall } = dlopen(null, {
    prctl: { arguments: ['i32', 'u64', 'u64', 'u64', 'u64'], return: 'i32' },
    syscall: { arguments: ['i64', 'u64', 'u64', 'buffer'], return: 'i64' },
  }).functions;
  const filter = Buffer.concat([
    instruction(LOAD, ARCHITECTURE),
    instruction(IF_EQUAL, architecture.audit, 1),
    instruction(RETURN, KILL),
    instruction(LOAD, NUMBER),
    ...instructionsOf(process.arch === 'x64' ? 0 : 1),
  ]);
  // struct sock_fprog: the length, and a pointer.
  const program = Buffer.alloc(16);
  program.writeUInt16LE(filter.length / INSTRUCTION_BYTES, 0);
  program.writeBigUInt64LE(getRawPointer(filter), 8);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1n, 0n, 0n, 0n) !== 0)
    throw new Error('the system refuses PR_SET_NO_NEW_PRIVS');
  if (syscall(BigInt(architecture.seccomp), SECCOMP_SET_MODE_FILTER, flags, program) !== 0n)
    throw new Error('the system refuses seccomp filters');
};

let isIoUringRefused = false;

/**
 * Takes io_uring from the processes that this thread starts from now on, because libuv makes a ring for its event loop,
 * through which a confined process could open files and sockets. Without seccomp, `confine` throws in such a process.
 */
export const refuseIoUring = (): void => {
  if (isIoUringRefused || process.platform !== 'linux') return;
  isIoUringRefused = true;
  try {
    install(
      () => [
        instruction(IF_EQUAL, IO_URING_SETUP, 0, 1),
        instruction(RETURN, failWith(ENOSYS)),
        instruction(RETURN, ALLOW),
      ],
      0n,
    );
  } catch {}
};

const [RLIMIT_NOFILE, RLIMIT_AS] = [7, 9];
/** More than are open. Each descriptor that a thread waits for takes 72 bytes of the kernel, also one that is not open. */
const DESCRIPTORS_MAX = 64;
/** Most addresses beyond those of a process that has loaded everything. Decoding takes fewer. */
const ADDRESSES_MAX = 1024 ** 3;
const VM_SIZE = /^VmSize:\s+(\d+) kB$/m;

/**
 * Bounds the descriptors, and the addresses, because each page that is read needs an entry in the page table: no size of the
 * process includes what the kernel keeps for them.
 */
const limitKernelMemory = (): void => {
  const kib = VM_SIZE.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  const { setrlimit } = dlopen(null, {
    setrlimit: { arguments: ['i32', 'buffer'], return: 'i32' },
  }).functions;
  for (const [limit, name, most] of [
    [RLIMIT_AS, 'RLIMIT_AS', Number(kib) * 1024 + ADDRESSES_MAX],
    [RLIMIT_NOFILE, 'RLIMIT_NOFILE', DESCRIPTORS_MAX],
  ] as const)
    if (setrlimit(limit, Buffer.from(BigUint64Array.of(BigInt(most), BigInt(most)).buffer)) !== 0)
      throw new Error(`the system refuses ${name}`);
};

const hasIoUring = (): boolean =>
  readdirSync('/proc/self/fd').some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes('[io_uring]');
    } catch {
      // The descriptor of the folder, which is closed meanwhile.
      return false;
    }
  });

const O_CLOEXEC = 0o2000000;
const FLAGS = /^flags:\s+(\d+)$/m;

/** Closes descriptors that a program which started ours left open: Node's own close when a program starts. */
const closeInherited = (): void => {
  for (const fd of readdirSync('/proc/self/fd').map(Number))
    try {
      const flags = FLAGS.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1] ?? '';
      if ((Number.parseInt(flags, 8) & O_CLOEXEC) === 0) closeSync(fd);
    } catch {
      // The descriptor of the folder, which is closed meanwhile.
    }
};

/**
 * Confines this process. Call it once everything is loaded, because no module can be loaded afterwards.
 * @throws Error that says why the system does not allow it; the process is then not confined
 */
export const confine = (): void => {
  if (process.platform === 'linux') {
    if (hasIoUring()) throw new Error('its event loop uses io_uring');
    closeInherited();
    limitKernelMemory();
  }
  install(confinement, SECCOMP_FILTER_FLAG_TSYNC);
};

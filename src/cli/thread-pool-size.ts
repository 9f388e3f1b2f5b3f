// Imported before everything else: libuv reads this variable once, when the first task reaches its thread pool.

/**
 * DNS lookups use at most half of libuv's threads, and a name whose servers do not answer blocks one for up to 30 s.
 * Measured with 50 such names: with the default of 4 threads a working name took over 20 s, with 128 no time.
 */
const THREADS = '128';

process.env.UV_THREADPOOL_SIZE ??= THREADS;

// Imported before everything else, because libuv reads this variable once, when the first task reaches its thread pool.

/**
 * DNS lookups use at most half of libuv's threads, and a name whose servers do not answer blocks one for up to 30 s.
 * Measured with 50 such names: 4 threads (the default) delayed a lookup of another name by over 20 s, 128 threads did not.
 */
const THREADS = '128';

process.env.UV_THREADPOOL_SIZE ??= THREADS;

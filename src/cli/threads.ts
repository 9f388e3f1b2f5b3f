// Imported before everything else: libuv reads this once, when the first thing is handed to its threads.

/**
 * Names are looked up on libuv's threads, on half of them at most, and a name whose servers are silent holds
 * one for up to half a minute. With the default of four, a handful of applications without DNS stop every call
 * of the worker: measured with 50 such names, a healthy one was not looked up within 20 s, and at once with 128.
 */
const THREADS = '128';

// An operator's own choice stands.
process.env.UV_THREADPOOL_SIZE ??= THREADS;

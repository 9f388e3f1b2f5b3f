/** The environment of `demo` and `up` in this home, on free ports. */
export const onFreePorts = (home: string) => ({
  CATALOGUE_HOME: home,
  API_PORT: '0',
  CONSOLE_PORT: '0',
  KYC_DESK_PORT: '0',
  METRICS_PORT: '0',
});

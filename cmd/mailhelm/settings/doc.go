// Package settings finds the values of a command's settings and reports where each came
// from.
//
// A setting has one name everywhere: the flag --base-url is MAILHELM_BASE_URL in
// the environment and base-url in the configuration file, which is TOML. The
// flag wins over the environment, the environment over the file, the file over
// the default. [Sources] records where each value came from.
//
// Package config declares the settings of a server.
package settings

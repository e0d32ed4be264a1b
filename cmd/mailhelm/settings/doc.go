// Package settings is the configuration of a server: what can be set, where a
// value comes from, and what follows from it.
//
// A setting has one name everywhere: the flag --base-url is MAILHELM_BASE_URL in
// the environment and base-url in the configuration file, which is TOML. The
// flag wins over the environment, the environment over the file, the file over
// the default. [Sources] remembers which of them it was.
//
// It parses and derives and does not act: whether a port is free or a database
// answers is for host and doctor to find out.
package settings

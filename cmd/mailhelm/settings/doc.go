// Package settings reads the settings of a command from flags, environment and
// configuration file, and reports where each value came from.
//
// A setting has the same name everywhere: the flag --base-url is MAILHELM_BASE_URL in the
// environment and base-url in the configuration file, which is TOML. The flag takes
// precedence over the environment, the environment over the file, and the file over the
// default. [Sources] records where each value came from.
//
// Package config declares the settings of a server.
package settings

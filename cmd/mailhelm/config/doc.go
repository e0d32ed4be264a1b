// Package config is the configuration of a server: its role, its data folder and databases,
// its listen addresses and its public addresses. It checks the configuration and derives
// the values that are not set.
//
// Package settings reads the settings from flags, environment and file. Package serve
// starts a server with the configuration. Package doctor examines whether such a server
// would start.
package config
